import { xdr } from '@stellar/stellar-base';
import { hexOf, sha256Hex, txidsOf } from '../../../src/chains/stellar/stellar-hashes.ts';
import { metaOf } from './stellar-ledgers.ts';
import type { StellarFaults } from './stellar-node/faults.ts';

type Answer = Record<string, unknown>;

/**
 * A server that answers with an invented ledger, in which the first payment is a thousand times
 * as large. Its hashes fit to each other and to the ledger below.
 */
export function forging(sequence: number, networkId: string): StellarFaults {
  const forge = (told: Answer): Answer =>
    told.sequence === sequence ? { ...told, ...forged(String(told.metadataXdr), networkId) } : told;
  return {
    rewrite: (method, result) => {
      if (method === 'getLatestLedger') return forge(result);
      return method === 'getLedgers' ? { ...result, ledgers: (result.ledgers as Answer[]).map(forge) } : result;
    },
  };
}

function forged(metadataXdr: string, networkId: string): Answer {
  const meta = xdr.LedgerCloseMeta.fromXDR(metadataXdr, 'base64');
  const ledger = meta.v2();
  const parts = ledger
    .txSet()
    .v1TxSet()
    .phases()
    .flatMap((phase) => (phase.switch() === 0 ? phase.v0Components() : []));
  const [envelope] = parts.flatMap((part) => part.txsMaybeDiscountedFee().txes());
  const [processed] = ledger.txProcessing();
  if (!envelope || !processed) throw new Error('the ledger holds no transaction');
  const payment = envelope.v1().tx().operations()[0]?.body().paymentOp();
  payment?.amount(new xdr.Int64((BigInt(payment.amount().toString()) * 1_000n).toString()));
  processed.result().transactionHash(Buffer.from(txidsOf(envelope, networkId).txid, 'hex'));
  processed.txApplyProcessing(metaOf([[]]));
  const entry = ledger.ledgerHeader();
  const results = new xdr.TransactionResultSet({ results: ledger.txProcessing().map((each) => each.result()) });
  entry.header().txSetResultHash(Buffer.from(sha256Hex(results.toXDR()), 'hex'));
  entry.hash(Buffer.from(sha256Hex(entry.header().toXDR()), 'hex'));
  return { hash: hexOf(entry.hash()), headerXdr: entry.toXDR('base64'), metadataXdr: meta.toXDR('base64') };
}
