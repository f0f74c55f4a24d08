import type { HotSpend } from '../port/chain-adapter.ts';
import type { KnownTx, MoneroDaemon } from './monero-daemon.ts';
import { receivedBy } from './monero-receipt.ts';
import { parsedOrNull } from './monero-tx.ts';
import type { MoneroWallet } from './monero-wallet.ts';
import type { MoneroWatch } from './monero-watch.ts';

interface SpendParts {
  readonly daemon: MoneroDaemon;
  readonly wallet: Pick<MoneroWallet, 'spends' | 'outputs'>;
  readonly watch: Pick<MoneroWatch, 'read' | 'viewKey'>;
  readonly hotWallet: string;
  readonly finalityDepth: number;
}

/**
 * What a transaction took from the wallet. In a block, the wallet tells it. While it waits, its key
 * images tell what it spends, and the view key what comes back.
 */
export async function moneroSpend(parts: SpendParts, txid: string): Promise<HotSpend | null> {
  const known = (await parts.daemon.transactions([txid])).get(txid);
  if (known === undefined) return null;
  if (known.height === null) return waitingSpend(parts, known);
  const { height } = known;
  const readTo = await parts.watch.read();
  const spend = (await parts.wallet.spends()).find((one) => one.txid === txid);
  if (spend === undefined || height > readTo) return null;
  const { amount, fee } = spend;
  return { amounts: amountsOf(amount), fee, height, final: readTo - height + 1 >= parts.finalityDepth };
}

async function waitingSpend(parts: SpendParts, { raw }: KnownTx): Promise<HotSpend | null> {
  const tx = parsedOrNull(raw);
  const viewKey = tx === null ? null : await parts.watch.viewKey();
  if (tx === null || viewKey === null) return null;
  const outputs = await parts.wallet.outputs('all');
  const spent = outputs.filter(({ keyImage }) => keyImage !== null && tx.keyImages.includes(keyImage));
  if (spent.length === 0 || spent.length < tx.keyImages.length) return null;
  const total = spent.reduce((sum, { amount }) => sum + amount, 0n);
  const amount = total - tx.fee - receivedBy(tx, parts.hotWallet, viewKey);
  return { amounts: amountsOf(amount), fee: tx.fee, height: null, final: false };
}

function amountsOf(amount: bigint): HotSpend['amounts'] {
  return amount > 0n ? [{ contract: null, amount }] : [];
}
