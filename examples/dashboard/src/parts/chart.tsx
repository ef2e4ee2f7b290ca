// Bars by day; the numbers are also a table, for those who do not see them.
export type Bar = { label: string; value: number };

export function BarChart({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <figure className="chart">
      <figcaption>
        {title} <strong>{bars.reduce((sum, { value }) => sum + value, 0)}</strong>
      </figcaption>
      <div className="bars" role="img" aria-label={`${title} by day, at most ${most}`}>
        {bars.map(({ label, value }) => (
          <div key={label} title={`${label}: ${value}`}>
            <span>{value > 0 && value}</span>
            <span className="fill" style={{ height: `${(7 * value) / most}rem` }} />
            <span>{label.slice(8)}</span>
          </div>
        ))}
      </div>
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
