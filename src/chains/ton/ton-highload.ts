import { Address, beginCell, Cell, contractAddress, type StateInit } from '@ton/core';
import { encodeTon } from '../addresses/ton.ts';

/**
 * The code of the highload wallet, version 3, as a bag of cells. The authors of the chain publish
 * it, and the package @tonkite/highload-wallet-v3 2.0.10 (Apache-2.0) ships it:
 * https://github.com/ton-blockchain/highload-wallet-contract-v3/tree/5938d689c54e2c13a93de71b05995f96548c7d74
 */
const codeHex = [
  'b5ee9c7241021001000228000114ff00f4a413f4bcf2c80b01020120020d02014803040078d020d74bc00101c060b0915be1',
  '01d0d3030171b0915be0fa4030f828c705b39130e0d31f018210ae42e5a4ba9d8040d721d74cf82a01ed55fb04e030020120',
  '050a02027306070011adce76a2686b85ffc00201200809001aabb6ed44d0810122d721d70b3f0018aa3bed44d08307d721d7',
  '0b1f0201200b0c001bb9a6eed44d0810162d721d70b15800e5b8bf2eda2edfb21ab09028409b0ed44d0810120d721f404f40',
  '4d33fd315d1058e1bf82325a15210b99f326df82305aa0015a112b992306dde923033e2923033e25230800df40f6fa19ed02',
  '1d721d70a00955f037fdb31e09130e259800df40f6fa19cd001d721d70a00937fdb31e0915be270801f6f2d48308d718d121',
  'f900ed44d0d3ffd31ff404f404d33fd315d1f82321a15220b98e12336df82324aa00a112b9926d32de58f82301de541675f9',
  '10f2a106d0d31fd4d307d30cd309d33fd315d15168baf2a2515abaf2a6f8232aa15250bcf2a304f823bbf2a35304800df40f',
  '6fa199d024d721d70a00f2649130e20e01fe5309800df40f6fa18e13d05004d718d20001f264c858cf16cf8301cf168e1030',
  'c824cf40cf8384095005a1a514cf40e2f800c94039800df41704c8cbff13cb1ff40012f40012cb3f12cb15c9ed54f80f21d0',
  'd30001f265d3020171b0925f03e0fa4001d70b01c000f2a5fa4031fa0031f401fa0031fa00318060d721d300010f0020f265',
  'd2000193d431d19130e272b1fb00b585bf03',
].join('');

/** The usual number of this kind of wallet, as the contract's own tests use it. */
export const walletId = 0x10ad;
/** Seconds in which the contract accepts a payment. They are part of the wallet's address. */
export const walletTimeoutSec = 3_600;

const bitsOfShift = 10;
/** The contract takes bit numbers from 0 to 1022. */
const bitNumbers = 1_023;
const shifts = 2 ** 13;
/** How many query ids a wallet has. The last one is kept for an emergency. */
export const queryIds = bitNumbers * shifts - 1;

let code: Cell | undefined;

export function highloadCode(): Cell {
  code ??= Cell.fromHex(codeHex);
  return code;
}

/** The state in which the wallet of a key is deployed. */
export function highloadInit(publicKey: Uint8Array): StateInit {
  const data = beginCell()
    .storeBuffer(Buffer.from(publicKey))
    .storeUint(walletId, 32)
    .storeBit(false)
    .storeBit(false)
    .storeUint(0, 64)
    .storeUint(walletTimeoutSec, 22)
    .endCell();
  return { code: highloadCode(), data };
}

/** The address of the wallet of a key, in the form that the database keeps. */
export function highloadAddress(publicKey: Uint8Array): string {
  return textOf(contractAddress(0, highloadInit(publicKey)));
}

/** The number of 23 bits by which the contract knows a query, from a count that begins with 0. */
export function queryIdOf(count: number): number {
  if (!Number.isSafeInteger(count) || count < 0 || count >= queryIds) throw new RangeError('this is no query id');
  return (Math.floor(count / bitNumbers) << bitsOfShift) | (count % bitNumbers);
}

/** The reverse of `queryIdOf`; null for a number that it does not give. */
export function countOf(queryId: number): number | null {
  const bit = queryId & (2 ** bitsOfShift - 1);
  const count = (queryId >> bitsOfShift) * bitNumbers + bit;
  return bit < bitNumbers && count >= 0 && count < queryIds ? count : null;
}

/** An address in the form that the database keeps. */
export function textOf(address: Address): string {
  return encodeTon(address.workChain, address.hash);
}

/** @throws Error for a text that is no address. */
export function addressOf(text: string): Address {
  return Address.parse(text);
}
