import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import type {
  Broadcast,
  ChainAdapter,
  PaymentIntent,
  Pending,
  PreparedTx,
  SignedTx,
  Transfer,
  TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import type { VenueAnswer } from '../../../src/settlement/rows/liquidity-venue.ts';

/** What waits for a block, and some transfers besides. */
export function withWaiting(
  { transfers, left }: Pending = { transfers: [], left: new Set() },
  more: readonly Transfer[] = [],
): Pending {
  const waiting = new Set(more.map(({ txid }) => txid));
  return { transfers: [...transfers, ...more], left: new Set([...left].filter((txid) => !waiting.has(txid))) };
}

/** What the outside world does wrong at present; a test sets and clears it. */
export class Faults {
  /** Instead of handing a transaction to the node. */
  broadcast: ((send: () => Promise<unknown>) => Promise<never> | Promise<void>) | null = null;
  /** Stands between the worker and the node when a group is broadcast in one request. */
  group: ((send: () => Promise<readonly Broadcast[]>) => Promise<readonly Broadcast[]>) | null = null;
  /** Instead of what the chain says. */
  status: ((tx: SignedTx) => TxStatus) | null = null;
  /** Waits in the mempool of a chain, and no block takes it. */
  stuck: { readonly chain: string; readonly transfer: Transfer } | null = null;
  /** Instead of what the node says of what waits for a block. */
  pending: (() => Pending) | null = null;
  /** Before a chain is read. */
  scan: ((chain: string) => Promise<void>) | null = null;
  /** Instead of how wrong the times of blocks may be. */
  blockToleranceSec: number | null = null;
  /** Before a transaction is prepared. */
  preparing: ((intent: PaymentIntent) => void) | null = null;
  feeFactor = 1n;
  signerAway = false;
  /** Stands between the worker and the signer. */
  signing: ((sign: () => Promise<SignedTx>) => Promise<SignedTx>) | null = null;
  /** Stands between the worker and the signer when a transaction is revoked. */
  revoking: ((revoke: () => Promise<SignedTx | null>) => Promise<SignedTx | null>) | null = null;
  venue: ((trade: () => Promise<VenueAnswer>) => Promise<VenueAnswer>) | null = null;
  /** Bytes that were handed to a node, by txid. */
  readonly sent = new Map<string, Set<string>>();

  /** Ports that go wrong as this says. */
  outside(): OutsideWorld {
    return {
      signer: (signer) => ({
        hotWallet: (chain) => signer.hotWallet(chain),
        channels: (chain) => signer.channels(chain),
        sign: async (...args) => {
          if (this.signerAway) throw new SignerError('unavailable', 'the signer is away');
          return this.signing ? this.signing(() => signer.sign(...args)) : signer.sign(...args);
        },
        revoke: async (...args) => {
          if (this.signerAway) throw new SignerError('unavailable', 'the signer is away');
          return this.revoking ? this.revoking(() => signer.revoke(...args)) : signer.revoke(...args);
        },
      }),
      venue: (venue) => ({
        name: venue.name,
        find: (clientId) => venue.find(clientId),
        trade: (order) => (this.venue ? this.venue(() => venue.trade(order)) : venue.trade(order)),
        // A faulty venue is asked for each trade.
        tradeAll: async (orders) => (this.venue ? null : await venue.tradeAll?.(orders)) ?? new Map(),
      }),
      chain: (adapter) => this.#chain(adapter),
    };
  }

  #note({ txid, raw }: SignedTx): void {
    this.sent.set(txid, (this.sent.get(txid) ?? new Set()).add(raw));
  }

  #chain(adapter: ChainAdapter): ChainAdapter {
    const faults = this;
    return new Proxy(adapter, {
      get(target, name) {
        if (name === 'broadcast') {
          return async (tx: SignedTx) => {
            faults.#note(tx);
            if (!faults.broadcast) return target.broadcast(tx);
            await faults.broadcast(() => target.broadcast(tx));
            return { outcome: 'accepted', code: null };
          };
        }
        if (name === 'status') {
          return async (tx: SignedTx) => (faults.status ? faults.status(tx) : target.status(tx));
        }
        if (name === 'pending') {
          return async (known: readonly string[]): Promise<Pending> => {
            if (faults.pending) return faults.pending();
            const own = faults.stuck?.chain === target.chain ? [faults.stuck.transfer] : [];
            return withWaiting(await target.pending?.(known), own);
          };
        }
        if (name === 'scan') {
          return async (...args: Parameters<ChainAdapter['scan']>) => {
            await faults.scan?.(target.chain);
            return target.scan(...args);
          };
        }
        if (name === 'prepare') {
          return async (...args: Parameters<ChainAdapter['prepare']>): Promise<PreparedTx> => {
            faults.preparing?.(args[0]);
            const tx = await target.prepare(...args);
            return faults.feeFactor === 1n ? tx : { ...tx, fee: tx.fee * faults.feeFactor };
          };
        }
        // With a fault one by one, so that each goes wrong by itself.
        if (name === 'statusAll' && faults.status) return undefined;
        if (name === 'broadcastAll') {
          const broadcastAll = faults.broadcast ? undefined : target.broadcastAll?.bind(target);
          return (
            broadcastAll &&
            (async (txs: readonly SignedTx[]) => {
              for (const tx of txs) faults.#note(tx);
              return faults.group ? faults.group(() => broadcastAll(txs)) : broadcastAll(txs);
            })
          );
        }
        if (name === 'blockToleranceSec') return faults.blockToleranceSec ?? target.blockToleranceSec;
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}
