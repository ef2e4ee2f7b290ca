// The totals of a request: expected, measured and maximum, and what is compared with the limit of one request.
import { counted, milliseconds, plain } from './numbers.js';
import { FIGURES, isOverLimit, QUANTITIES, quantitiesOf } from './quantities.js';

const MEANINGS = {
  Expected: 'Full pages of items of typical size, without fallbacks.',
  Measured: 'What the request used, as DynamoDB reported it.',
  Maximum: 'Upper bound: every item at its largest and every fallback used. Never exceeded.',
  Admitted: 'The expected cost plus an allowance for fallbacks. The server compares it with the limit before the request runs.',
  Limit: 'What the server allows one request to use. It stops a query that passes the limit, but never a mutation that has begun.',
  Fallback: 'A read that is only sent under the stated condition. It counts towards the maximum, not towards the expected cost.',
};

export function Totals({ totals, problems, isMutation }) {
  const { admitted, maximum, measured, limit } = totals;
  return (
    <>
      {measured && (
        <p className="plan-summary" data-testid="summary">
          <strong>{counted(measured.operations, 'operation')}</strong> in {counted(measured.requests, 'DynamoDB request')},{' '}
          {milliseconds(measured.durationMs)}
        </p>
      )}
      <table className="plan-totals" aria-label="Totals">
        <thead>
          <tr>
            <td />
            {[...Object.values(FIGURES), 'Admitted', 'Limit'].map(title => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {quantitiesOf(totals).map(quantity => (
            <tr key={quantity}>
              <th scope="row">{QUANTITIES[quantity]}</th>
              {Object.keys(FIGURES).map(figure => (
                <td key={figure}>
                  <Figure figure={figure} quantity={quantity} totals={totals} />
                </td>
              ))}
              <td>{plain(admitted[quantity])}</td>
              <td>{quantity in limit ? plain(limit[quantity]) : 'none'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isOverLimit(admitted, limit)
        ? problems.length === 0 && (
            <p className="plan-problem" role="alert">
              The admitted cost is above the limit: the server refuses this request with QUERY_TOO_COMPLEX.
            </p>
          )
        : !isMutation &&
          isOverLimit(maximum, limit) && (
            <p className="plan-note">
              The maximum is above the limit. A query that passes the limit while it runs is stopped with QUERY_TOO_COMPLEX.
            </p>
          )}
      <details className="plan-help">
        <summary>What do these figures mean?</summary>
        <dl>
          {Object.entries(MEANINGS).map(([term, meaning]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}

function Figure({ figure, quantity, totals: { limit, [figure]: cost } }) {
  if (!cost) {
    return '–';
  }
  const value = cost[quantity];
  return (
    <>
      {plain(value)}
      {quantity in limit && (
        <Meter name={`${QUANTITIES[quantity]}, ${figure}`} figure={figure} value={value} limit={limit[quantity]} />
      )}
    </>
  );
}

function Meter({ name, figure, value, limit }) {
  const over = value > limit ? ' plan-over' : '';
  return (
    <span
      className={`plan-meter plan-${figure}${over}`}
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      // The text, the value and the bar show the same figure, also above the limit.
      aria-valuemax={Math.max(value, limit)}
      aria-valuenow={value}
      aria-valuetext={`${plain(value)} of ${plain(limit)}`}
    >
      <span style={{ width: `${Math.min(1, value / limit) * 100}%` }} />
    </span>
  );
}
