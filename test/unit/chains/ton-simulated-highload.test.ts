import { contractAddress } from '@ton/core';
import { historyOf, refused, send } from '../../support/chains/ton-calls.ts';
import {
  codeOf,
  compiled,
  type Highload,
  highloadCell,
  highloadInit,
  keyOf,
  type Outgoing,
} from '../../support/chains/ton-contracts.ts';
import { rawOf } from '../../support/chains/ton-node/names.ts';
import { startTonNode, type TonChain, type TonNode } from '../../support/chains/ton-node.ts';

const ton = 1_000_000_000n;
const timeoutMs = 3_600_000;

/** A highload wallet with coins, which its first message deploys. */
function highload(chain: TonChain, nanotons = 100n * ton) {
  const wallet: Highload = { key: keyOf(`highload of ${chain.name}`) };
  const address = contractAddress(0, highloadInit(wallet));
  if (nanotons > 0n) chain.pay(address, nanotons);
  return { wallet, address, raw: rawOf(address) };
}

describe('a highload wallet on the simulated TON', () => {
  let chain: TonChain;
  let node: TonNode;
  let name = 0;

  beforeEach(async () => {
    name += 1;
    ({ chain, node } = await startTonNode({ name: `test ${name}` }));
  });

  afterEach(() => chain.stop());

  it('has the codes of contracts by their published hashes', () => {
    for (const [one, { hash }] of Object.entries(compiled)) {
      expect([
        one,
        codeOf(one as keyof typeof compiled)
          .hash()
          .toString('hex'),
      ]).toEqual([one, hash]);
    }
    expect(compiled.walletV3r2.hash).toBe('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599');
    expect(compiled.walletV4r2.hash).toBe('feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0');
    expect(compiled.highloadWalletV3.hash).toBe('11acad7955844090f283bf238bc1449871f783e7cc0979408d3f4859483e8525');
  });

  describe('whose timeout is an hour', () => {
    const to = contractAddress(0, highloadInit({ key: keyOf('receiver') }));
    const message: Outgoing = { to, value: ton };

    /** How often the receiver was paid. */
    async function paid(): Promise<number> {
      const all = await historyOf(node, rawOf(to));
      return all.filter(({ in_msg }) => in_msg.value === String(ton)).length;
    }

    async function deployed() {
      const { wallet, address, raw } = highload(chain);
      await chain.settle();
      const signed = (queryId: number, createdAt: number, deploys = false): Buffer =>
        highloadCell(wallet, { queryId, createdAt, message, deploys }).toBoc();
      await send(node, signed(0, chain.now - 5, true));
      await chain.settle();
      expect(await paid()).toBe(1);
      return { address, raw, signed };
    }

    it('refuses a query id a second time with exit code 36', async () => {
      const { signed } = await deployed();
      const again = { boc: signed(0, chain.now - 1).toString('base64') };
      const [status, error] = await refused(node, 'message', again);
      expect(status).toBe(500);
      expect(error).toContain('cannot apply external message to current state');
      expect(error).toContain('exitcode=36');
      chain.plant(again.boc);
      await chain.settle();
      expect(await paid()).toBe(1);
    });

    it('refuses a message of the future and one that is too old with exit code 35, to the second', async () => {
      const { signed } = await deployed();
      const codeOfRefusal = async (queryId: number, createdAt: number): Promise<string | undefined> => {
        const [, error] = await refused(node, 'message', { boc: signed(queryId, createdAt).toString('base64') });
        return /exitcode=(\d+)/.exec(error)?.[1];
      };
      expect(await codeOfRefusal(1, chain.now + 1)).toBe('35');
      expect(await codeOfRefusal(1, chain.now - timeoutMs / 1_000)).toBe('35');
      await send(node, signed(1, chain.now - timeoutMs / 1_000 + 1));
      chain.waiting = [];
      await send(node, signed(2, chain.now));
      await chain.settle();
      expect(await paid()).toBe(2);
    });

    it('pays the very same bytes an hour after it refused them, when the contract forgot the query id', async () => {
      const { signed } = await deployed();
      // The contract cleans at most once a timeout, and then forgets what is two timeouts old.
      await chain.block(1, timeoutMs - 10_000);
      await send(node, signed(7, chain.now - 5));
      await chain.settle();
      expect(await paid()).toBe(2);
      await chain.block(1, 30_000);
      const second = signed(7, chain.now - 5);
      const posted = { boc: second.toString('base64') };
      expect((await refused(node, 'message', posted))[1]).toContain('exitcode=36');
      await chain.block(1, timeoutMs - 10_000);
      await send(node, second);
      await chain.settle();
      expect(await paid()).toBe(3);
    });
  });
});
