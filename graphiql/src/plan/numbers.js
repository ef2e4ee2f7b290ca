// How numbers are written, and the axis that times are drawn on.
const [WHOLE, TENTHS, HUNDREDTHS] = [0, 1, 2].map(
  digits => new Intl.NumberFormat('en', { maximumFractionDigits: digits }),
);

/** One decimal; two below 1, so that a small number does not become 0; none from 1,000 on. */
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

/** A time axis with round steps that reaches at least to `end`. */
export function axisOf(end) {
  const rough = Math.max(end, 0.1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
  const steps = Math.max(1, Math.ceil(end / step));
  return { length: step * steps, step, steps };
}
