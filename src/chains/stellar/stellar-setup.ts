import { fromUnits, toUnits } from '../../base/money.ts';
import { type StellarNetwork, stellarDecimals } from './stellar-section.ts';
import type { StellarAction } from './stellar-tx.ts';

/** The account that pays and is paid, and the accounts whose sequence numbers payments use. */
export interface StellarAccounts {
  readonly wallet: string;
  /** From number 1. */
  readonly channels: readonly string[];
}

/**
 * The most that a set-up brings to a channel, in stroops. The coins stay the operator's: only the
 * fees of payments leave a channel.
 */
export const mostToChannel = toUnits('10', stellarDecimals);

/**
 * A set-up as the intent of a payment names it: 'require_memo', 'trust:USDC', 'channel:3:2.5' for a
 * new channel with 2.5 XLM, 'top_up:3:1' for 1 XLM more. Null for what is no set-up.
 */
export function setupName(action: StellarAction, { channels }: StellarAccounts): string | null {
  if (action.kind === 'require_memo') return action.kind;
  if (action.kind === 'change_trust') return `trust:${action.token.code}`;
  const channel = channels.indexOf(action.to) + 1;
  if (channel === 0 || action.amount > mostToChannel) return null;
  const amount = fromUnits(action.amount, stellarDecimals);
  if (action.kind === 'create_account') return `channel:${channel}:${amount}`;
  return action.token === null ? `top_up:${channel}:${amount}` : null;
}

/** @throws RangeError for a name that `setupName` does not give. */
export function readSetup(
  name: string,
  accounts: StellarAccounts,
  { tokens }: Pick<StellarNetwork, 'tokens'>,
): StellarAction {
  const action = actionOf(name, accounts, tokens);
  if (action !== null && setupName(action, accounts) === name) return action;
  throw new RangeError('this is no set-up of the wallet');
}

function actionOf(name: string, { channels }: StellarAccounts, tokens: StellarNetwork['tokens']): StellarAction | null {
  const [kind, what = '', amount = ''] = name.split(':');
  if (kind === 'require_memo') return { kind };
  if (kind === 'trust') {
    const issuer = tokens.get(what);
    return issuer === undefined ? null : { kind: 'change_trust', token: { code: what, issuer } };
  }
  const to = channels[Number(what) - 1];
  if (to === undefined || !/^(0|[1-9]\d?)(\.\d{1,7})?$/.test(amount)) return null;
  const units = toUnits(amount, stellarDecimals);
  if (kind === 'channel') return { kind: 'create_account', to, amount: units };
  return kind === 'top_up' ? { kind: 'payment', to, token: null, amount: units } : null;
}
