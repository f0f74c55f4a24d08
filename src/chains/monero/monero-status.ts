import { ChainError, type SignedTx, type TxStatus } from '../port/chain-adapter.ts';
import type { MoneroDaemon } from './monero-daemon.ts';
import { type MoneroTx, parsedOrNull, parseMoneroTx } from './monero-tx.ts';
import type { MoneroWallet } from './monero-wallet.ts';

interface StatusParts {
  readonly daemon: MoneroDaemon;
  readonly wallet: Pick<MoneroWallet, 'refresh' | 'spends'>;
  readonly finalityDepth: number;
}

/** Payments of the wallet that are asked for at once, the newest first. */
const spendsAtOnce = 50;

/**
 * The status of a payment. Its txid and key images are read from its bytes. It is dead when another
 * transaction in a block spends one of its key images.
 */
export async function moneroStatus(parts: StatusParts, { txid, raw }: SignedTx): Promise<TxStatus> {
  const { daemon, finalityDepth } = parts;
  const tx = parseMoneroTx(raw);
  if (tx.txid !== txid) {
    throw new ChainError('unknown_transaction', 'the bytes of a payment have another txid', { isOfChain: true });
  }
  const known = (await daemon.transactions([txid])).get(txid);
  if (known?.height === null) return { state: 'mempool' };
  if (known !== undefined) {
    const confirmations = await confirmationsOf(daemon, known.height);
    const final = confirmations >= finalityDepth;
    return { state: 'mined', height: known.height, confirmations, success: true, fee: tx.fee, final };
  }
  if (!(await daemon.spentStates(tx.keyImages)).includes('chain')) return { state: 'unknown' };
  const height = await rivalHeight(parts, tx);
  if (height === null) return { state: 'dead', why: 'conflict', final: false };
  return { state: 'dead', why: 'conflict', final: (await confirmationsOf(daemon, height)) >= finalityDepth };
}

async function confirmationsOf(daemon: MoneroDaemon, height: number): Promise<number> {
  const head = await daemon.head();
  if (height > head.height) throw new ChainError('unsound_answer', 'a transaction is above the newest block');
  return head.height - height + 1;
}

/**
 * The height of the transaction that spends what a payment spends, the lowest of several. A daemon
 * does not tell it. The wallet lists all that was sent with its keys, and the bytes of each show
 * what it spends. Null while the wallet has not read its block.
 */
async function rivalHeight({ daemon, wallet }: StatusParts, { txid, keyImages }: MoneroTx): Promise<number | null> {
  await wallet.refresh();
  const spends = [...(await wallet.spends())].sort((one, other) => other.height - one.height);
  for (let start = 0; start < spends.length; start += spendsAtOnce) {
    const txids = spends.slice(start, start + spendsAtOnce).map((spend) => spend.txid);
    if (txids.includes(txid)) {
      throw new ChainError('unsound_answer', 'a node does not know a payment that is in a block');
    }
    for (const known of (await daemon.transactions(txids)).values()) {
      const rival = parsedOrNull(known.raw);
      const isProven = rival?.txid === known.txid && rival.keyImages.some((image) => keyImages.includes(image));
      if (isProven && known.height !== null) return known.height;
    }
  }
  return null;
}
