// Bars by day, drawn as SVG; the numbers are also a table, for those who do not see them.
export type Bar = { label: string; value: number };

const WIDTH = 640;
const HEIGHT = 160;
const BASE = 24;

export function BarChart({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <figure className="chart">
      <figcaption>
        {title} <strong>{bars.reduce((sum, { value }) => sum + value, 0)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title} by day, at most ${most}`}>
        {bars.map(({ label, value }, place) => {
          const height = ((HEIGHT - BASE - 16) * value) / most;
          const x = place * step + step * 0.15;
          return (
            <g key={label}>
              <rect x={x} y={HEIGHT - BASE - height} width={step * 0.7} height={height} rx="2">
                <title>{`${label}: ${value}`}</title>
              </rect>
              {value > 0 && (
                <text x={place * step + step / 2} y={HEIGHT - BASE - height - 4}>
                  {value}
                </text>
              )}
              {place % 2 === 0 && (
                <text x={place * step + step / 2} y={HEIGHT - 6}>
                  {label.slice(5)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <details>
        <summary>Numbers</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">{title}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, value }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
