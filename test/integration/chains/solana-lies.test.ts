import { ChainError, type PaymentIntent, type SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import type { SolanaAdapter } from '../../../src/chains/solana/solana-adapter.ts';
import { describeWithVm } from '../../support/chains/solana-calls.ts';
import type { SolanaHarness } from '../../support/chains/solana-harness.ts';
import type { SolanaFaults } from '../../support/chains/solana-node/faults.ts';
import { solanaSetup } from '../../support/chains/solana-setup.ts';

let solana: SolanaHarness<SolanaAdapter>;
let count = 0;

function payment(changes: Partial<PaymentIntent> = {}): PaymentIntent {
  count += 1;
  const to = solana.chain.newKey().address;
  return {
    ...{ id: `p${count}`, attempt: 1, from: null, contract: null, to, tag: null, amount: 5_000_000n },
    ...changes,
  };
}

async function signed(intent: PaymentIntent): Promise<SignedTx> {
  return solana.sign(intent, await solana.adapter.prepare(intent, new Map()));
}

/** A payment that a final block holds. */
async function paid(): Promise<SignedTx> {
  const tx = await signed(payment());
  await solana.adapter.broadcast(tx);
  await solana.mine(2);
  return tx;
}

/** Faults of the first node, and of the second one. */
function lie(first: SolanaFaults, second: SolanaFaults = {}): void {
  const [one, other] = solana.nodes;
  one.faults = first;
  other.faults = second;
}

async function codeOf(question: Promise<unknown>): Promise<string> {
  const error = await question.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error instanceof ChainError) return error.code;
  throw new Error('it was no refusal', { cause: error });
}

describeWithVm('nodes of Solana that lie', () => {
  beforeEach(async () => {
    solana = await solanaSetup();
  });
  afterEach(() => solana.stop());

  const expire = async ({ expiresAt }: SignedTx): Promise<void> => {
    if (expiresAt !== null) await solana.mineAt?.(expiresAt);
    await solana.mine(3);
  };

  describe('about a payment that was made', () => {
    it.each<[string, (txid: string) => SolanaFaults]>([
      ['that no index finds', (txid) => ({ forgets: [txid] })],
      ['whose history is missing', () => ({ noHistory: 'silent' })],
    ])('%s: it is dead for no one, not even after its expiry', async (_name, faultsOf) => {
      const tx = await paid();
      await expire(tx);
      await solana.mine(300);
      lie(faultsOf(tx.txid), faultsOf(tx.txid));
      // Its marker exists.
      expect(await solana.adapter.status(tx)).toEqual({ state: 'unknown' });
      lie({}, {});
      expect(await solana.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
    });

    it('that one node hides, with its marker: it is not finally dead', async () => {
      const tx = await paid();
      await expire(tx);
      lie({ forgets: [tx.txid], accounts: 'none' });
      expect(await solana.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: false });
    });

    it('that a node shows as failed: it is not final', async () => {
      const tx = await paid();
      lie({ block: 'failed' });
      expect(await solana.adapter.status(tx)).toMatchObject({ state: 'mined', success: false, final: false });
    });

    it('gets no further attempt, although nodes hide it', async () => {
      const intent = payment();
      const first = await solana.adapter.prepare(intent, new Map());
      const tx = await solana.sign(intent, first);
      await solana.adapter.broadcast(tx);
      await expire(tx);
      lie({ forgets: [tx.txid] }, { forgets: [tx.txid] });
      const earlier = [{ ...first, why: 'expired' as const }];
      const further = solana.adapter.prepare({ ...intent, attempt: 2 }, new Map(), earlier);
      expect(await codeOf(further)).toBe('earlier_may_confirm');
      // One node that hides the marker is refuted by the other one.
      const again = () => codeOf(solana.adapter.prepare({ ...intent, attempt: 2 }, new Map(), earlier));
      lie({ rewrite: (method, result) => withoutMarkers(method, result) });
      expect(await again()).toBe('unconfirmed_refusal');
      lie({ rewrite: (method, result) => withoutTrial(method, withoutMarkers(method, result)) });
      expect(await again()).toBe('nodes_disagree');
    });
  });

  describe('about a payment that waits', () => {
    it('a node that says it expired long ago is believed by no one', async () => {
      const tx = await signed(payment());
      const higher = (method: string, result: unknown): unknown =>
        method === 'getBlock' ? { ...(result as object), blockHeight: 2_000_000_000 } : result;
      lie({ rewrite: higher });
      expect(await solana.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: false });
    });

    it('is final for no one while the second node is away', async () => {
      const tx = await paid();
      lie({}, { transport: 503 });
      expect(await solana.adapter.status(tx)).toMatchObject({ state: 'mined', final: false });
      expect(solana.adapter.obstacle).toBe('no_second_node');
    });
  });

  describe('about deposits', () => {
    const depositsOf = async (faults: SolanaFaults): Promise<string> => {
      const height = solana.chain.head.slot;
      const cursor = await solana.adapter.start(height);
      solana.chain.pay(solana.chain.bank, solana.chain.newKey().address, 7_000_000n);
      await solana.mine(4);
      lie(faults, faults);
      return codeOf(solana.adapter.scan(cursor, 20));
    };

    it.each<[string, SolanaFaults, string]>([
      ['a list of transactions that repeats one', { block: 'repeat' }, 'unsound_answer'],
      ['accounts that do not fit to balances', { block: 'keys' }, 'unsound_answer'],
      ['no balances', { block: 'meta' }, 'unsound_answer'],
      ['hashes of another chain', { block: 'fork' }, 'inconsistent_chain'],
      ['parents that are no blocks', { block: 'previous' }, 'inconsistent_chain'],
      ['fractions', { numbers: 'float' }, 'unsound_answer'],
      ['numbers below 0', { numbers: 'negative' }, 'unsound_answer'],
      ['numbers beyond 64 bits', { numbers: 'huge' }, 'unsound_answer'],
      ['texts that are markup', { texts: 'odd' }, 'unsound_answer'],
      ['an unknown version', { error: 'unsupportedVersion', methods: /^getBlock$/ }, 'unsupported_version'],
    ])('with %s reads none', async (_name, faults, code) => {
      expect(await depositsOf(faults)).toBe(code);
    });

    it.each([
      'skipped',
      'longTerm',
      'null',
      'cleanedUp',
      'notAvailable',
      'statusNotYet',
    ] as const)('never takes a block that is missing as %s for an empty slot', async (as) => {
      const cursor = await solana.adapter.start(solana.chain.head.slot);
      const to = solana.chain.newKey().address;
      solana.chain.pay(solana.chain.bank, to, 7_000_000n);
      await solana.mine(1);
      const { slot } = solana.chain.head;
      await solana.mine(3);
      const gap = { from: slot, to: slot, as };
      lie({ gap }, { gap });
      expect(['no_block', 'inconsistent_chain']).toContain(await codeOf(solana.adapter.scan(cursor, 20)));
      lie({ gap }, {});
      const { blocks } = await solana.adapter.scan(cursor, 20);
      const found = blocks.flatMap(({ transfers }) => transfers).filter(({ address }) => address === to);
      expect(found.map(({ amount }) => amount)).toEqual([7_000_000n]);
    });

    it('of another chain are not read', async () => {
      await solana.stop();
      solana = await solanaSetup({ genesis: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' });
      expect(await codeOf(solana.adapter.head())).toBe('wrong_chain');
    });

    it('that one node invents count above the limit of one node only when a second one tells them', async () => {
      await solana.stop();
      solana = await solanaSetup({ twoNodesAbove: new Map([['', 1_000n]]) });
      const cursor = await solana.adapter.start(solana.chain.head.slot);
      const own = (await solana.depositAddress?.()) ?? '';
      solana.chain.pay(solana.chain.bank, own, 5_000_000n);
      await solana.mine(2);
      lie({ block: 'credit' });
      expect(await codeOf(solana.adapter.scan(cursor, 20))).toBe('nodes_disagree');
      lie({});
      expect((await solana.adapter.scan(cursor, 20)).blocks.length).toBeGreaterThan(0);
    });

    it('behind the newest block are no end of the chain', async () => {
      const cursor = await solana.adapter.start(solana.chain.head.slot);
      await solana.mine(5);
      const ahead = (await solana.adapter.scan(cursor, 20)).cursor;
      lie({ lag: 3 }, { lag: 3 });
      expect(await codeOf(solana.adapter.scan(ahead, 20))).toBe('node_behind');
    });
  });
});

/** Only markers are asked for by eight. */
function withoutMarkers(method: string, result: unknown): unknown {
  if (method !== 'getMultipleAccounts') return result;
  const { value, ...others } = result as { value: unknown[] };
  return value.length === 8 ? { ...others, value: value.map(() => null) } : result;
}

function withoutTrial(method: string, result: unknown): unknown {
  if (method !== 'simulateTransaction') return result;
  return { ...(result as object), value: { err: null, unitsConsumed: 10_000 } };
}
