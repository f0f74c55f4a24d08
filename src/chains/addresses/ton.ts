import { base64, base64urlnopad, hex } from '@scure/base';
import {
  type AddressCodec,
  accepted,
  attempt,
  type Decoded,
  isZero,
  notOurs,
  ofTestNetwork,
  refused,
  zeroAddress,
} from './codec.ts';

const bounceable = 0x11;
const nonBounceable = 0x51;
const testOnly = 0x80;

/** CRC-16/XMODEM (polynomial 0x1021, start 0), which ends TON's and Stellar's addresses. */
export function crc16Xmodem(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/**
 * The non-bounceable, url-safe form of an address: coins sent to it stay there even when its
 * contract is not deployed. https://github.com/ton-blockchain/TEPs/blob/master/text/0002-address.md
 */
export function encodeTon(workchain: number, hash: Uint8Array): string {
  const bytes = new Uint8Array(36);
  bytes[0] = nonBounceable;
  bytes[1] = workchain & 0xff;
  bytes.set(hash, 2);
  new DataView(bytes.buffer).setUint16(34, crc16Xmodem(bytes.subarray(0, 34)));
  return base64urlnopad.encode(bytes);
}

function decodeRaw(workchain: string, digits: string): Decoded {
  const hash = hex.decode(digits.toLowerCase());
  return isZero(hash) ? zeroAddress : accepted(encodeTon(Number.parseInt(workchain, 10), hash), 'raw');
}

/**
 * TON, https://github.com/ton-blockchain/TEPs/blob/master/text/0002-address.md
 *
 * Every spelling of an account becomes the one non-bounceable form. So our own addresses are
 * recognised in every spelling. A payout to a wallet that is not deployed yet is not bounced.
 */
export const tonCodec: AddressCodec = {
  looks: 'starts with UQ or EQ and has 48 characters',
  decode(text) {
    const raw = /^(0|-1):([0-9a-fA-F]{64})$/.exec(text);
    if (raw?.[1] !== undefined && raw[2] !== undefined) return decodeRaw(raw[1], raw[2]);
    // One alphabet or the other, never both.
    if (!/^([\w-]{48}|[a-zA-Z0-9+/]{48})$/.test(text)) return notOurs;
    const bytes = attempt(() => (/[+/]/.test(text) ? base64 : base64urlnopad).decode(text));
    if (bytes?.length !== 36) return notOurs;
    const view = new DataView(bytes.buffer, bytes.byteOffset, 36);
    if (view.getUint16(34) !== crc16Xmodem(bytes.subarray(0, 34))) return notOurs;
    const flags = view.getUint8(0);
    const form = flags & ~testOnly;
    if (form !== bounceable && form !== nonBounceable) return notOurs;
    if (flags & testOnly) return ofTestNetwork;
    const workchain = view.getInt8(1);
    if (workchain !== 0 && workchain !== -1) {
      return refused(`is on workchain ${workchain}, which is not in use; give an address on workchain 0`);
    }
    if (isZero(bytes.subarray(2, 34))) return zeroAddress;
    const kind = form === bounceable ? 'bounceable' : 'non-bounceable';
    return accepted(encodeTon(workchain, bytes.subarray(2, 34)), kind);
  },
  hasChecksum: (text) => !text.includes(':'),
};
