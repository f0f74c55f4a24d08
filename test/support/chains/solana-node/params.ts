import { isObject } from '../xrp-node/json.ts';
import { invalidParams } from './errors.ts';
import { isAddress, type Text58 } from './keys.ts';
import type { AccountForm, TransactionForm } from './shown.ts';
import type { Commitment } from './view.ts';

export type Params = readonly unknown[];
export type Config = Readonly<Record<string, unknown>>;

/** The object of settings at a place, which may be missing. */
export function configAt(params: Params, index: number): Config {
  const config = params[index] ?? {};
  if (!isObject(config)) throw invalidParams(`Invalid params: invalid type at ${index}, expected an object.`);
  return config;
}

export function commitmentOf({ commitment = 'finalized' }: Config, least: Commitment = 'processed'): Commitment {
  if (commitment !== 'processed' && commitment !== 'confirmed' && commitment !== 'finalized') {
    throw invalidParams(`Invalid params: unknown variant \`${String(commitment)}\`.`);
  }
  if (commitment === 'processed' && least !== 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
  return commitment;
}

export function minContextSlotOf({ minContextSlot }: Config): number {
  return minContextSlot === undefined || minContextSlot === null ? 0 : wholeNumber(minContextSlot);
}

export function wholeNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`Invalid params: invalid type: ${JSON.stringify(value)}, expected u64.`);
  }
  return value;
}

export function addressAt(params: Params, index: number): Text58 {
  return addressOf(required(params, index));
}

export function addressOf(value: unknown): Text58 {
  if (!isAddress(value)) throw invalidParams('Invalid param: WrongSize');
  return value;
}

export function addressesAt(params: Params, index: number, most: number): Text58[] {
  return listAt(params, index, most).map(addressOf);
}

export function listAt(params: Params, index: number, most: number): readonly unknown[] {
  const list = required(params, index);
  if (!Array.isArray(list)) throw invalidParams('Invalid params: invalid type, expected a sequence.');
  if (list.length > most) throw invalidParams(`Too many inputs provided; max ${most}`);
  return list;
}

export function required(params: Params, index: number): unknown {
  if (params[index] === undefined) {
    throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`);
  }
  return params[index];
}

export function accountFormOf({ encoding = 'base58', dataSlice }: Config): AccountForm {
  if (encoding !== 'base58' && encoding !== 'base64' && encoding !== 'jsonParsed') {
    throw invalidParams(`Invalid params: unknown variant \`${String(encoding)}\`.`);
  }
  if (!isObject(dataSlice)) return { encoding, slice: null };
  return { encoding, slice: { offset: wholeNumber(dataSlice.offset), length: wholeNumber(dataSlice.length) } };
}

export function transactionFormOf({
  transactionDetails: details = 'full',
  encoding = 'json',
  maxSupportedTransactionVersion: version,
}: Config): TransactionForm {
  if (details !== 'full' && details !== 'accounts' && details !== 'signatures' && details !== 'none') {
    throw invalidParams(`Invalid params: unknown variant \`${String(details)}\`.`);
  }
  // `jsonParsed` is not imitated.
  if (encoding !== 'json' && encoding !== 'base64') {
    throw invalidParams(`Invalid params: unknown variant \`${String(encoding)}\`.`);
  }
  return { details, encoding, maxVersion: version === undefined ? null : wholeNumber(version) };
}
