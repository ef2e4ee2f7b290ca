import type { ReactNode } from "react";

export type Column<Row> = { title: string; cell: (row: Row) => ReactNode; isNumber?: boolean; alarms?: (row: Row) => boolean };

type TableProps<Row> = { label: string; first: Column<Row>; columns: readonly Column<Row>[]; rows: readonly Row[]; keyOf: (row: Row) => string };

/** A table whose rows become cards in a narrow window. Its roles are named, since a style that changes the layout removes them. */
export function Table<Row>({ label, first, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {[first, ...columns].map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" className={isNumber ? "number" : ""}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            <th role="rowheader" scope="row">
              {first.cell(row)}
            </th>
            {columns.map(({ title, cell, isNumber, alarms }) => (
              <td key={title} role="cell" data-title={title} className={`${isNumber ? "number" : ""} ${alarms?.(row) ? "alarm" : ""}`}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
