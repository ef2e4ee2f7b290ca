// How numbers are written, and the axis that times are drawn on.
const [WHOLE, TENTHS, HUNDREDTHS] = [0, 1, 2].map(
  digits => new Intl.NumberFormat('en', { maximumFractionDigits: digits }),
);

/** Told to a tenth; what is less than one finer, so that nothing small becomes nothing, and thousands as they are. */
export function plain(number) {
  const format = number < 1 ? HUNDREDTHS : number < 1000 ? TENTHS : WHOLE;
  return format.format(number);
}

export function milliseconds(number) {
  return `${plain(number)} ms`;
}

/** `1 item`, `2 items`. */
export function counted(number, noun) {
  return `${plain(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A time axis of round steps that is long enough: how long, and in how many steps. */
export function axisOf(end) {
  const rough = Math.max(end, 0.1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
  const steps = Math.max(1, Math.ceil(end / step));
  return { length: step * steps, step, steps };
}
