import { Big } from '../../base/money.ts';
import { type ExchangeState, type ImitatedMovement, keepNewest, nextId } from './exchange-state.ts';
import { strike } from './strikes.ts';
import type { VenueFault } from './venue-faults.ts';

/** What a person asks for on the exchange's page. */
interface AskedWithdrawal {
  readonly coin: string;
  /** The gateway's name of the network, and the exchange's own. */
  readonly networkId: string;
  readonly network: string;
  /** With the fee. */
  readonly gross: string;
  readonly fee: string;
  readonly address: string;
  readonly tag: string | null;
  readonly atMs: number;
}

/** Coins that came for the account. */
type CameIn = Pick<ImitatedMovement, 'coin' | 'network' | 'address' | 'tag' | 'amount' | 'atMs'> & {
  readonly txid: string;
  readonly output?: NonNullable<ImitatedMovement['output']>;
  readonly state: 'pending' | 'done';
};

/** The account does not allow it. */
export class AccountRefusal extends Error {
  override readonly name = 'AccountRefusal';
}

/** In this order, at most one strikes a withdrawal. */
const withdrawalFaults: readonly VenueFault[] = [
  'reject_late',
  'return_without_fee',
  'short',
  'txid_late',
  'two_in_one',
  'replace',
  'replace_untold',
  'internal',
];

/** What the account has of a coin. */
export function balanceOf({ balances }: ExchangeState, coin: string): Big {
  return new Big(balances[coin] ?? '0');
}

/** Adds to what the account has of a coin, or takes from it. @throws AccountRefusal below zero. */
export function change(state: ExchangeState, coin: string, by: Big): void {
  const after = balanceOf(state, coin).plus(by);
  if (after.lt('0')) throw new AccountRefusal(`the account has ${balanceOf(state, coin).toFixed()} ${coin} only`);
  state.balances[coin] = after.toFixed();
}

/**
 * Accepts a withdrawal. What leaves the account leaves it now.
 *
 * @throws AccountRefusal when the account has too little, or the fee takes all.
 */
export function withdraw(state: ExchangeState, asked: AskedWithdrawal): ImitatedMovement {
  const { coin, networkId, network, gross, fee, address, tag, atMs } = asked;
  if (new Big(gross).lte(fee)) throw new AccountRefusal(`the fee is ${fee} ${coin}, and nothing would arrive`);
  change(state, coin, new Big(gross).times('-1'));
  const fault = withdrawalFaults.find((one) => strike(state, one));
  const movement: ImitatedMovement = {
    kind: 'withdrawal',
    reference: `W${nextId(state)}-SANDBX-WDRAWL`,
    ...{ coin, network, address, tag, fee, atMs },
    amount: gross,
    txid: null,
    isInternal: false,
    state: 'pending',
    told: null,
    payment: { network: networkId, txid: null },
    ...(fault === undefined ? {} : { fault }),
  };
  keepNewest(state.movements, movement, hasEnded);
  return movement;
}

/** Ends a withdrawal as refused. Its coins come back, unless the exchange keeps the fee. */
export function giveBack(state: ExchangeState, row: ImitatedMovement): void {
  const kept = row.fault === 'return_without_fee' ? row.fee : '0';
  row.state = 'returned';
  change(state, row.coin, new Big(row.amount).minus(kept));
}

/** Takes note of coins that came, and credits them where they are `done`. */
export function takeIn(state: ExchangeState, { state: begun, ...came }: CameIn): ImitatedMovement {
  const fault = (['credit_late', 'credit_locked'] as const).find((one) => strike(state, one));
  const movement: ImitatedMovement = {
    kind: 'deposit',
    reference: `D${nextId(state)}-SANDBX-DEPOST`,
    ...came,
    fee: '0',
    isInternal: false,
    state: 'pending',
    told: null,
    ...(fault === undefined ? {} : { fault }),
  };
  keepNewest(state.movements, movement, hasEnded);
  if (begun === 'done') creditFinal(state, movement);
  return movement;
}

/** Credits a deposit that is deep enough on its chain, as far as its fault lets it. */
export function creditFinal(state: ExchangeState, row: ImitatedMovement): void {
  if (row.fault === 'credit_late') return;
  if (row.state === 'pending') change(state, row.coin, new Big(row.amount));
  row.state = row.fault === 'credit_locked' ? 'locked' : 'done';
}

function hasEnded({ state }: ImitatedMovement): boolean {
  return state === 'done' || state === 'returned';
}
