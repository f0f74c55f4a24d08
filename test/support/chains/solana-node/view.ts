import { minContextSlotNotReached, RpcError, slotErrors } from './errors.ts';
import { otherHash, type SolanaFaults } from './faults.ts';
import type { Text58 } from './keys.ts';
import { type Details, statusOf, type TransactionForm, transactionJson } from './shown.ts';
import type { Applied, SolanaBlock, SolanaSlots } from './slots.ts';
import { type Account, tokenAccountOf, withAmount } from './tokens.ts';

type Json = Record<string, unknown>;

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** Blocks whose transactions are found without history. */
const recentBlocks = 300;
const most = 2n ** 64n - 1n;

/** The network as one server shows it. */
export class View {
  readonly chain: SolanaSlots;
  readonly faults: SolanaFaults;

  constructor(chain: SolanaSlots, faults: SolanaFaults) {
    this.chain = chain;
    this.faults = faults;
  }

  get genesis(): Text58 {
    return this.faults.genesis ?? this.chain.genesis;
  }

  /** The lowest slot that it has a block of. */
  get first(): number {
    return Math.max(this.chain.blocks[0]?.slot ?? 0, this.faults.firstSlot ?? 0);
  }

  /**
   * The newest block of a level. A block that is confirmed is final, since October 2026.
   *
   * @throws RpcError when it is below the least slot that the client asks for.
   */
  bank(commitment: Commitment, minContextSlot = 0): SolanaBlock {
    const { lag = 0, stuckAt = Number.MAX_SAFE_INTEGER } = this.faults;
    const newest = commitment === 'processed' ? this.chain.head : this.chain.finalized;
    const { blocks } = this.chain;
    const known = blocks.slice(0, Math.max(1, newest.height - (blocks[0]?.height ?? 0) + 1 - lag));
    const bank = known.findLast(({ slot }) => slot <= stuckAt) ?? newest;
    if (bank.slot < minContextSlot) throw minContextSlotNotReached(bank.slot);
    return bank;
  }

  /** Slots with final blocks, in order. */
  slots(from: number, to: number): number[] {
    const { gap } = this.faults;
    const listed = this.chain.blocks.filter(({ slot }) => slot >= from && slot <= to && slot >= this.first);
    const isHidden = (slot: number): boolean =>
      gap !== undefined && !gap.isListed && slot >= gap.from && slot <= gap.to;
    const top = this.bank('finalized').slot;
    return falseSlots(
      listed.map(({ slot }) => slot).filter((slot) => slot <= top && !isHidden(slot)),
      this.faults.slots,
    );
  }

  /** A final block; null where the server says so. @throws RpcError where it has none. */
  block(slot: number): SolanaBlock | null {
    if (slot > this.bank('finalized').slot) throw slotErrors.blockNotAvailable(slot);
    const { gap, skippedAs } = this.faults;
    if (gap && slot >= gap.from && slot <= gap.to) return this.#missing(slot, gap.as);
    if (slot < this.first) throw slotErrors.blockCleanedUp(slot, this.first);
    return this.chain.at(slot) ?? this.#missing(slot, skippedAs ?? 'skipped');
  }

  /** A transaction in a block that it knows. */
  find(id: Text58, { history = true } = {}): { readonly block: SolanaBlock; readonly applied: Applied } | null {
    const { forgets = [], noHistory } = this.faults;
    const newest = this.bank('processed');
    const found = this.chain.find(id);
    if (!found || forgets.includes(id) || found.block.slot > newest.slot || found.block.slot < this.first) return null;
    const isRecent = newest.height - found.block.height < recentBlocks;
    return isRecent || (history && noHistory === undefined) ? found : null;
  }

  /** One entry of `getSignatureStatuses`. */
  statusJson({ block, applied }: { readonly block: SolanaBlock; readonly applied: Applied }): Json {
    const { status } = this.faults;
    const { slot } = block;
    const err = status === 'failed' ? 'AccountInUse' : applied.outcome.error;
    const isFinal = status !== 'processed' && slot <= this.bank('finalized').slot;
    return {
      confirmationStatus: isFinal ? 'finalized' : 'processed',
      confirmations: isFinal ? null : this.bank('processed').height - block.height,
      err,
      slot: status === 'future' ? slot + 1_000_000 : slot,
      status: statusOf(err),
    };
  }

  /** The state of an account after a block. */
  account(address: Text58, bank: SolanaBlock): Account | null {
    const shown = this.faults.accounts === 'other' ? this.chain.bank.address : address;
    const account = this.faults.accounts === 'none' ? null : this.chain.vm.accountAt(shown, bank.slot);
    if (!account || this.faults.accounts !== 'huge') return account;
    const data = tokenAccountOf(account) ? withAmount(account.data, most) : account.data;
    return { ...account, lamports: most, data };
  }

  /** A block as `getBlock` answers. */
  blockJson(block: SolanaBlock, form: TransactionForm): Json {
    const { block: fault } = this.faults;
    const { height, hash, timeMs } = block;
    const { parentSlot, parentHash } = this.#parentOf(block);
    const flip = (isFlipped: boolean, one: Text58): Text58 => (isFlipped ? otherHash(one) : one);
    return {
      blockHeight: height + (fault === 'height' ? 1 : 0),
      blockTime: Math.floor(timeMs / 1_000) + (fault === 'time' ? 3_600 : 0),
      blockhash: flip(fault === 'hash' || fault === 'fork', hash),
      parentSlot: parentSlot - (fault === 'parentSlot' ? 1 : 0),
      previousBlockhash: flip(fault === 'previous' || fault === 'fork', parentHash),
      ...this.#contents(block, form),
    };
  }

  #contents(block: SolanaBlock, form: TransactionForm): Json {
    if (form.details === 'none') return {};
    const listed = this.#listed(block);
    if (form.details === 'signatures') return { signatures: listed.map(({ tx }) => tx.signatures[0]) };
    return {
      transactions: listed.map((one) => falseTransaction(transactionJson(one, form), this.faults, form.details)),
    };
  }

  #listed({ transactions, slot }: SolanaBlock): readonly Applied[] {
    switch (this.faults.block) {
      case 'lack':
        return transactions.slice(0, -1);
      case 'repeat':
        return [...transactions, ...transactions.slice(-1)];
      case 'crowded':
        return Array.from({ length: 5_000 }, () => transactions).flat();
      case 'foreign': {
        const others = this.chain.blocks.findLast((one) => one.slot < slot && one.transactions.length > 0);
        return [...transactions, ...(others?.transactions.slice(0, 1) ?? [])];
      }
      default:
        return transactions;
    }
  }

  #parentOf({ parentSlot, parentHash }: SolanaBlock): Pick<SolanaBlock, 'parentSlot' | 'parentHash'> {
    const { gap } = this.faults;
    if (!gap?.isJoined || parentSlot < gap.from || parentSlot > gap.to) return { parentSlot, parentHash };
    const below = this.chain.blocks.findLast(({ slot }) => slot < gap.from);
    return below ? { parentSlot: below.slot, parentHash: below.hash } : { parentSlot, parentHash };
  }

  #missing(slot: number, how: NonNullable<SolanaFaults['gap']>['as']): null {
    switch (how) {
      case 'null':
        return null;
      case 'skipped':
        throw slotErrors.slotSkipped(slot);
      case 'longTerm':
        throw slotErrors.longTermSlotSkipped(slot);
      case 'cleanedUp':
        throw slotErrors.blockCleanedUp(slot, slot + 1);
      case 'notAvailable':
        throw slotErrors.blockNotAvailable(slot);
      case 'statusNotYet':
        throw slotErrors.statusNotAvailableYet(slot);
      default:
        throw new RpcError('internal', 'unknown fault');
    }
  }
}

function falseSlots(slots: readonly number[], how: SolanaFaults['slots']): number[] {
  const last = slots.at(-1) ?? 0;
  const falseLists = {
    unordered: () => slots.toReversed(),
    repeated: () => slots.flatMap((slot) => [slot, slot]),
    outside: () => [...slots, last + 1_000],
    many: () => Array.from({ length: 500_000 }, (_, place) => last + place),
  };
  return how === undefined ? [...slots] : falseLists[how]();
}

/** A transaction of a block with the fault that changes each one. */
function falseTransaction(shown: Json, { block }: SolanaFaults, details: Details): Json {
  const meta = shown.meta as Json;
  switch (block) {
    case 'failed':
      return { ...shown, meta: { ...meta, err: 'AccountInUse', status: { Err: 'AccountInUse' } } };
    case 'succeeded':
      return { ...shown, meta: { ...meta, err: null, status: { Ok: null } } };
    case 'meta':
      return { ...shown, meta: null };
    case 'keys': {
      const { accountKeys, ...others } = shown.transaction as { accountKeys: unknown[] };
      return details === 'accounts'
        ? { ...shown, transaction: { ...others, accountKeys: accountKeys.slice(0, -1) } }
        : shown;
    }
    case 'credit':
      return { ...shown, meta: { ...meta, ...moreOf(meta) } };
    default:
      return shown;
  }
}

function moreOf({ postBalances, postTokenBalances }: Json): Json {
  const tokens = postTokenBalances as { readonly uiTokenAmount: { readonly amount: string } }[];
  return {
    postBalances: (postBalances as bigint[]).map((one) => one + 1_000_000n),
    postTokenBalances: tokens.map(({ uiTokenAmount, ...others }) => ({
      ...others,
      uiTokenAmount: { ...uiTokenAmount, amount: String(BigInt(uiTokenAmount.amount) + 1_000_000n) },
    })),
  };
}
