// A transaction from outside may pay several outputs. Each output is a separate row: the first
// one has the txid, the others have the txid and their place, 'txid:1'.

/** The most outputs of one transaction. */
export const mostOutputs = 10;

/** The row of an output, by its place in its transaction. */
export function outputRow(txid: string, place: number): string {
  return place === 0 ? txid : `${txid}:${place}`;
}

/** All rows that a transaction can have, as JSON. */
export function outputRows(txid: string): string {
  return JSON.stringify(Array.from({ length: mostOutputs }, (_, place) => outputRow(txid, place)));
}

/** The transaction of a row, and the key of the row's transfer: 'txid:0'. */
export function outputOf(row: string): { readonly txid: string; readonly key: string } {
  const [txid = '', place = '0'] = row.split(':');
  return { txid, key: `${txid}:${place}` };
}
