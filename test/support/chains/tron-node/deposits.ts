import { call } from '../anvil.ts';
import type { TronChain } from '../tron-node.ts';
import { toHexAddress } from './crypto.ts';
import { toEvm } from './vm.ts';

/** A transaction in favour of an address, or that only seems to be, with what it really brings. */
export interface DepositCase {
  readonly name: string;
  readonly txid: string;
  /** Coins and tokens in the order of their logs, in the smallest unit. */
  readonly credits: readonly { readonly contract: string | null; readonly amount: bigint }[];
  /** Coins come by a call between contracts, which a node shows only when it is set so. */
  readonly isInternal?: boolean;
  /** The chain moved more than an amount of the gateway can be. */
  readonly isTooLarge?: boolean;
}

type Made = Omit<DepositCase, 'name'>;
type Case = readonly [name: string, make: () => Promise<Made>];

/** Where the cases are made. */
interface Ground {
  readonly chain: TronChain;
  readonly token: string;
  readonly address: string;
  /** The address as contracts know it. */
  readonly evm: `0x${string}`;
}

const amount = 10_000n;
const value = { value: amount };

/**
 * Makes each case for an address, each in a separate block; the token is a `UsdtToken`. The
 * address needs an account, as TRC-10 tokens would make one.
 */
export async function makeDeposits(chain: TronChain, token: string, address: string): Promise<DepositCase[]> {
  const ground = { chain, token, address, evm: toEvm(toHexAddress(address)) };
  const cases = [...tokenCases(ground), ...(await otherCases(ground)), ...(await callCases(ground))];
  const made: DepositCase[] = [];
  for (const [name, make] of cases) {
    made.push({ name, ...(await make()) });
    await chain.mine();
  }
  return made;
}

async function none(sent: Promise<string>): Promise<Made> {
  return { txid: await sent, credits: [] };
}

/** All that the token itself can do. */
function tokenCases({ chain, token, address, evm }: Ground): Case[] {
  const pay = (): Promise<string> => chain.pay(address, token, amount);
  const tokens = async (sent: Promise<string>, ...amounts: bigint[]): Promise<Made> => ({
    txid: await sent,
    credits: amounts.map((one) => ({ contract: token, amount: one })),
  });
  /** A payment while the token is set to something, which is reset after that. */
  const odd = (name: string, set: unknown, reset: unknown, ...amounts: bigint[]): (() => Promise<Made>) => {
    return async () => {
      await chain.call(token, call(name, set));
      await chain.mine();
      const made = await tokens(pay(), ...amounts);
      await chain.mine();
      await chain.call(token, call(name, reset));
      return made;
    };
  };
  const twice = call('transferTwice', evm, evm, amount);
  const much = 2n ** 255n;
  const print = call('mint', evm, much);
  return [
    ['a token', () => tokens(pay(), amount)],
    ['an approval', () => none(chain.call(token, call('approve', evm, amount)))],
    ['a transfer of nothing', () => none(chain.call(token, call('transferFrom', evm, evm, 0n)))],
    ['two transfers at once', () => tokens(chain.call(token, twice), amount, amount + 1n)],
    ['false although it worked', odd('setMood', 1n, 0n, amount)],
    ['false without a transfer', odd('setMood', 2n, 0n)],
    ['a transfer that was undone', odd('setMood', 3n, 0n)],
    ['a transfer without enough energy', odd('setMood', 4n, 0n)],
    ['a transfer in two halves', odd('setMood', 5n, 0n, amount / 2n, amount / 2n)],
    ['a token that keeps a fee', odd('setFee', 100n, 0n, amount - amount / 100n)],
    ['a token that is paused', odd('setPaused', true, false)],
    [
      'a token that prints an absurd amount',
      async () => ({ ...(await tokens(chain.call(token, print), much)), isTooLarge: true }),
    ],
  ];
}

/** Coins, and contracts and tokens that are not ours. */
async function otherCases({ chain, address, evm }: Ground): Promise<Case[]> {
  const fake = await chain.deployToken('UsdtToken');
  const [liar, picture] = [await chain.deploy('Liar'), await chain.deploy('Picture')];
  return [
    ['coins', async () => ({ txid: await chain.pay(address, null, amount), credits: [{ contract: null, amount }] })],
    ['another token of the same name', () => none(chain.pay(address, fake, amount))],
    ['a log of a contract without a token', () => none(chain.call(liar, call('claim', evm, amount)))],
    ['a log with four topics', () => none(chain.call(picture, call('mint', evm, amount)))],
    ['a TRC-10 token', () => none(chain.payTrc10(address, '1002000', amount))],
  ];
}

/** Coins that come by a call between contracts. */
async function callCases({ chain, evm }: Ground): Promise<Case[]> {
  const forwarder = await chain.deploy('Forwarder');
  const forward = call('forward', evm);
  const token = { id: 1_002_000n, amount };
  return [
    ['a TRC-10 token in a call', () => none(chain.call(forwarder, forward, { token }))],
    ['coins of an inner call that was undone', () => none(chain.call(forwarder, call('forwardAndRepent', evm), value))],
    ['coins of a call that was undone', () => none(chain.call(forwarder, call('forwardAndFail', evm), value))],
    [
      'coins of a contract',
      async () => {
        const txid = await chain.call(forwarder, forward, value);
        return { txid, credits: [{ contract: null, amount }], isInternal: true };
      },
    ],
  ];
}
