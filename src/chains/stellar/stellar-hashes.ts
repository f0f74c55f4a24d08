import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { xdr } from '@stellar/stellar-base';
import { unsound } from '../nodes/node-answer.ts';

export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

export function hexOf(bytes: Uint8Array): string {
  return bytesToHex(bytes);
}

/** The ids of a transaction. `inner` is that of the one whose fee another account raised. */
interface Txids {
  readonly txid: string;
  readonly inner: string | null;
}

/**
 * The ids of a transaction on a network: hashes of what was signed.
 * https://developers.stellar.org/docs/learn/fundamentals/transactions/signatures-multisig
 */
export function txidsOf(envelope: xdr.TransactionEnvelope, networkId: string): Txids {
  switch (envelope.switch().name) {
    case 'envelopeTypeTx':
      return { txid: idOf(xdr.EnvelopeType.envelopeTypeTx(), envelope.v1().tx().toXDR(), networkId), inner: null };
    case 'envelopeTypeTxV0': {
      // The old form lacks the type of its account, and is hashed with it.
      const bytes = Buffer.concat([Buffer.alloc(4), envelope.v0().tx().toXDR()]);
      return { txid: idOf(xdr.EnvelopeType.envelopeTypeTx(), bytes, networkId), inner: null };
    }
    case 'envelopeTypeTxFeeBump': {
      const outer = envelope.feeBump().tx();
      return {
        txid: idOf(xdr.EnvelopeType.envelopeTypeTxFeeBump(), outer.toXDR(), networkId),
        inner: idOf(xdr.EnvelopeType.envelopeTypeTx(), outer.innerTx().v1().tx().toXDR(), networkId),
      };
    }
    default:
      throw unsound('an envelope of another type');
  }
}

function idOf(type: xdr.EnvelopeType, tx: Uint8Array, networkId: string): string {
  const kind = Buffer.alloc(4);
  kind.writeInt32BE(type.value);
  return sha256Hex(Buffer.concat([Buffer.from(networkId, 'hex'), kind, tx]));
}
