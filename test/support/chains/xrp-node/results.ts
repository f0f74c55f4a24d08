import { createRequire } from 'node:module';

const { TRANSACTION_RESULTS: codes } = createRequire(import.meta.url)(
  'ripple-binary-codec/dist/enums/definitions.json',
) as { readonly TRANSACTION_RESULTS: Readonly<Record<string, number>> };

/** What became of a transaction, by the name of its code: `tesSUCCESS`, `tecDST_TAG_NEEDED`. */
export type Result = `${'tes' | 'tec' | 'tef' | 'tel' | 'tem' | 'ter'}${string}`;

/** https://xrpl.org/docs/references/protocol/transactions/transaction-results */
const explanations: Readonly<Record<string, string>> = {
  tesSUCCESS: 'The transaction was applied. Only final in a validated ledger.',
  tecDIR_FULL: 'The account would have too many tickets.',
  tecDST_TAG_NEEDED: 'A destination tag is required.',
  tecINSUFFICIENT_RESERVE: 'The account has too little XRP for the reserve.',
  tecNO_DST_INSUF_XRP: 'The destination does not exist, and the payment is below its reserve.',
  tecNO_PERMISSION: 'The destination does not accept this payment.',
  tecUNFUNDED_PAYMENT: 'The account has too little XRP for the payment.',
  tefALREADY: 'The same transaction was applied before.',
  tefMAX_LEDGER: 'The ledger is above LastLedgerSequence.',
  tefNO_TICKET: 'The ledger does not have the ticket.',
  tefPAST_SEQ: 'The sequence number has passed.',
  telINSUF_FEE_P: 'The fee is too low.',
  terPRE_SEQ: 'A transaction with a lower sequence number is missing.',
  terPRE_TICKET: 'The ticket is not in the ledger yet.',
  terQUEUED: 'The transaction is held until the fee drops.',
};

/** The number of a result. @throws Error when there is no such result. */
export function codeOf(result: Result): number {
  const code = codes[result];
  if (code === undefined) throw new Error(`${result} is no result of a transaction`);
  return code;
}

export function explanationOf(result: Result): string {
  return explanations[result] ?? `The result is ${result}.`;
}

export const isFailedInLedger = (result: Result): boolean => result.startsWith('tec');

/** Whether a ledger may hold it with this result. */
export const isApplied = (result: Result): boolean => result === 'tesSUCCESS' || isFailedInLedger(result);
