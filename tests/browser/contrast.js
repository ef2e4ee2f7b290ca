// Returns every text of the page, and of its fields, whose contrast with its background is below 4.5:1, the minimum of WCAG AA.
() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

  function blend(background, color) {
    for (const fill of [background, color]) {
      canvas.fillStyle = fill;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return `rgb(${red} ${green} ${blue})`;
  }

  function luminance(color) {
    const channels = color.match(/\d+/g).map(channel => channel / 255);
    const [red, green, blue] = channels.map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function backgroundOf(element) {
    const behind = element.parentElement ? backgroundOf(element.parentElement) : 'white';
    return blend(behind, getComputedStyle(element).backgroundColor);
  }

  function contrastOf(element, part) {
    const background = backgroundOf(element);
    const text = blend(background, getComputedStyle(element, part).color);
    const [dark, light] = [luminance(background), luminance(text)].sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  }

  const found = [];
  function check(text, element, part = null) {
    if (text.trim() && element.checkVisibility({ opacityProperty: true }) && contrastOf(element, part) < 4.5) {
      found.push(`${text}: ${contrastOf(element, part).toFixed(2)}`);
    }
  }

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    check(texts.currentNode.data, texts.currentNode.parentElement);
  }
  for (const field of document.querySelectorAll('select, input:not([type=checkbox])')) {
    check(field.value || field.placeholder || '', field, field.value ? null : '::placeholder');
  }
  return found;
}
