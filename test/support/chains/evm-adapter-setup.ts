import { randomUUID } from 'node:crypto';
import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import type { EvmNetwork } from '../../../src/chains/evm/evm-section.ts';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { Cursor, PaymentIntent, ScanResult, Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { type Anvil, randomAddress, startAnvil } from './anvil.ts';
import { type EvmHarness, ether, evmHarness } from './evm-harness.ts';
import { EvmLiar } from './evm-liar.ts';

export const gwei = 10n ** 9n;

export let anvil: Anvil;
export let liar: EvmLiar;

export const open = (changes: Partial<EvmNetwork> = {}, nodes?: readonly NodeConfig[]): Promise<EvmHarness> =>
  evmHarness(anvil, changes, nodes);
/** Another adapter for the same chain and wallet. */
export const again = ({ network, hot, wallet }: EvmHarness, changes: Partial<EvmNetwork>): EvmAdapter =>
  new EvmAdapter({ network: { ...network, ...changes }, hotWallet: hot, addresses: wallet });
export const here = async ({ adapter }: EvmHarness): Promise<Cursor> => adapter.start((await adapter.head()).height);
export const address = (): string => toChecksumAddress(randomAddress().slice(2));
export const intent = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
  id: randomUUID(),
  attempt: 1,
  from: null,
  contract: null,
  to: address(),
  tag: null,
  amount: ether,
  ...changes,
});

/** Makes the next block ask for a base fee, by a block that has it. */
export async function raiseMarket(anvil: Anvil, wei: bigint): Promise<void> {
  await anvil.setBaseFee(wei);
  await anvil.mine();
}

export function transfersOf({ blocks }: ScanResult): Transfer[] {
  return blocks.flatMap(({ transfers }) => transfers);
}

/** Starts anvil, and a node before it that can lie, for the tests around. */
export function withAnvil(): void {
  beforeAll(async () => {
    anvil = await startAnvil();
    liar = await new EvmLiar(anvil.url).start();
  });
  afterAll(async () => {
    await liar?.stop();
    await anvil?.stop();
  });
  beforeEach(async () => {
    liar.lie = (_method, result) => result;
    liar.calls.length = 0;
    await anvil.mine();
  });
}
