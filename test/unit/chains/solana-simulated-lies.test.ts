import {
  ask,
  askHead,
  askValue,
  blockForm,
  broughtTo,
  describeWithVm,
  inBase64,
  type Json,
  post,
  refused,
  refusedSending,
  type ShownBlock,
  send,
  statusOf,
} from '../../support/chains/solana-calls.ts';
import type { BlockFault, Gap, SolanaFaults } from '../../support/chains/solana-node/faults.ts';
import { system } from '../../support/chains/solana-node/instructions.ts';
import { keyOf } from '../../support/chains/solana-node/keys.ts';
import { type SolanaChain, type SolanaNode, startSolana } from '../../support/chains/solana-node.ts';

describeWithVm('a simulated server of Solana that lies', () => {
  let chain: SolanaChain;
  let honest: SolanaNode;
  let liar: SolanaNode;
  const bob = keyOf('bob').address;

  beforeEach(async () => {
    chain = startSolana();
    honest = await chain.node();
    liar = await chain.node();
  });
  afterEach(() => chain.stop());

  const mine = (blocks: number): void => {
    for (let made = 0; made < blocks; made += 1) chain.mine();
  };
  const paid = (): string => {
    const id = chain.pay(chain.bank, bob, 1_000_000n);
    chain.mine();
    return id;
  };
  /** What both servers answer. */
  const both = async (method: string, ...params: readonly unknown[]): Promise<[unknown, unknown]> => [
    await ask(honest, method, ...params),
    await ask(liar, method, ...params),
  ];
  const block = (node: SolanaNode, slot = chain.head.slot) => ask<ShownBlock>(node, 'getBlock', slot, blockForm);

  it('serves another network, or states another genesis', async () => {
    const other = startSolana({ name: 'other', firstSlot: 5_000 });
    liar.faults = { chain: other };
    expect(await both('getSlot')).toEqual([chain.head.slot, 5_000]);
    expect(await both('getGenesisHash')).toEqual([chain.genesis, other.genesis]);
    liar.faults = { genesis: bob };
    expect(await both('getGenesisHash')).toEqual([chain.genesis, bob]);
    expect(await both('getSlot')).toEqual([chain.head.slot, chain.head.slot]);
  });

  it('has an old head, or states another height', async () => {
    const { slot } = chain.head;
    mine(4);
    liar.faults = { lag: 3 };
    expect(await both('getSlot')).toEqual([slot + 4, slot + 1]);
    expect(await refused(liar, 'getBlock', slot + 2, blockForm)).toEqual([-32_004, expect.any(String)]);
    liar.faults = { stuckAt: slot };
    expect(await both('getBlocks', slot)).toEqual([[0, 1, 2, 3, 4].map((place) => slot + place), [slot]]);
    expect(await refused(liar, 'getSlot', { minContextSlot: slot + 1 })).toEqual([-32_016, expect.any(String)]);
    liar.faults = { addedHeight: 500 };
    expect(await both('getBlockHeight')).toEqual([chain.head.height, chain.head.height + 500]);
  });

  it('does not know a transaction of a block, says that it failed, or puts it elsewhere', async () => {
    const id = paid();
    const { slot } = chain.head;
    const answers: readonly (readonly [SolanaFaults, unknown])[] = [
      [{}, { err: null, slot, confirmationStatus: 'finalized' }],
      [{ forgets: [id] }, null],
      [{ lag: 1 }, null],
      [{ firstSlot: slot + 1 }, null],
      [{ status: 'failed' }, { err: 'AccountInUse', status: { Err: 'AccountInUse' } }],
      [{ status: 'processed' }, { confirmationStatus: 'processed', confirmations: 0 }],
      [{ status: 'future' }, { slot: slot + 1_000_000 }],
    ];
    for (const [faults, expected] of answers) {
      liar.faults = faults;
      const status = await statusOf(liar, id);
      if (expected === null) expect(status).toBeNull();
      else expect(status).toMatchObject(expected as Json);
    }
    mine(301);
    liar.faults = { noHistory: 'silent' };
    expect([await statusOf(honest, id), await statusOf(liar, id)]).toMatchObject([{ slot }, null]);
    liar.faults = { noHistory: 'error' };
    expect(await refused(liar, 'getSignatureStatuses', [id], { searchTransactionHistory: true })).toEqual([
      -32_011,
      'Transaction history is not available from this node',
    ]);
  });

  const gaps: readonly (readonly [Gap['as'], number | null])[] = [
    ['skipped', -32_007],
    ['longTerm', -32_009],
    ['null', null],
    ['cleanedUp', -32_001],
    ['notAvailable', -32_004],
    ['statusNotYet', -32_014],
  ];
  it.each(gaps)('lacks a block, and answers with %s', async (as, code) => {
    mine(3);
    const { slot } = chain.head;
    const gap = { from: slot - 1, to: slot - 1, as };
    liar.faults = { gap };
    if (code === null) expect(await ask(liar, 'getBlock', slot - 1, blockForm)).toBeNull();
    else expect(await refused(liar, 'getBlock', slot - 1, blockForm)).toEqual([code, expect.any(String)]);
    expect(await ask(liar, 'getBlocks', slot - 2)).toEqual([slot - 2, slot]);
    expect((await block(liar)).parentSlot).toBe(slot - 1);
    liar.faults = { gap: { ...gap, isListed: true, isJoined: true } };
    expect(await ask(liar, 'getBlocks', slot - 2)).toEqual([slot - 2, slot - 1, slot]);
    const below = chain.at(slot - 2);
    expect(await block(liar)).toMatchObject({ parentSlot: below?.slot, previousBlockhash: below?.hash });
  });

  it('tells a slot without a block by another error, or by null', async () => {
    chain.skip(1);
    mine(1);
    const slot = chain.head.slot - 1;
    liar.faults = { skippedAs: 'longTerm' };
    const text = `Slot ${slot} was skipped, or missing in long-term storage`;
    expect(await refused(liar, 'getBlock', slot)).toEqual([-32_009, text]);
    liar.faults = { skippedAs: 'null' };
    expect(await ask(liar, 'getBlock', slot)).toBeNull();
  });

  const faults: readonly (readonly [BlockFault, string])[] = [
    ['hash', 'blockhash'],
    ['previous', 'previousBlockhash'],
    ['parentSlot', 'parentSlot'],
    ['height', 'blockHeight'],
    ['time', 'blockTime'],
    ['fork', 'blockhash,previousBlockhash'],
    ['lack', 'transactions'],
    ['repeat', 'transactions'],
    ['crowded', 'transactions'],
    ['foreign', 'transactions'],
    ['failed', 'transactions'],
    ['keys', 'transactions'],
    ['meta', 'transactions'],
    ['credit', 'transactions'],
  ];
  it.each(faults)('changes blocks: %s', async (fault, members) => {
    paid();
    paid();
    liar.faults = { block: fault };
    const [right, wrong] = [await block(honest), await block(liar)];
    const changed = Object.keys(right).filter((name) => JSON.stringify(right[name]) !== JSON.stringify(wrong[name]));
    expect(changed.sort().join()).toBe(members);
    expect(Object.keys(wrong)).toEqual(Object.keys(right));
  });

  it('lists slots in another order, twice, that were not asked for, or without end', async () => {
    mine(3);
    const { slot } = chain.head;
    const lists = {
      unordered: [slot, slot - 1],
      repeated: [slot - 1, slot - 1, slot, slot],
      outside: [slot - 1, slot, slot + 1_000],
    } as const;
    for (const slots of ['unordered', 'repeated', 'outside'] as const) {
      liar.faults = { slots };
      expect(await ask(liar, 'getBlocks', slot - 1, slot)).toEqual(lists[slots]);
    }
    liar.faults = { slots: 'many' };
    expect(await ask(liar, 'getBlocks', slot - 1, slot)).toHaveLength(500_000);
  });

  it('forks so that its own blocks join', async () => {
    mine(2);
    liar.faults = { block: 'fork' };
    const { slot } = chain.head;
    const [first, second] = [await block(liar, slot - 1), await block(liar, slot)];
    expect(second.previousBlockhash).toBe(first.blockhash);
  });

  it('says that failed transactions succeeded, or that more arrived', async () => {
    const usdc = chain.mint('USDC');
    chain.pay(chain.bank, bob, 5n, { mint: usdc, isFailing: true });
    chain.pay(chain.bank, bob, 7n, { mint: usdc });
    mine(1);
    liar.faults = { block: 'succeeded' };
    expect((await block(liar)).transactions.map(({ meta }) => meta.err)).toEqual([null, null]);
    liar.faults = { block: 'credit' };
    const [, second] = (await block(liar)).transactions;
    expect(second && broughtTo(second, bob).tokens).toEqual({ [usdc.address]: 1_000_007n });
  });

  it('refuses what it takes, and takes what it refuses', async () => {
    const draft = { instructions: [system.transfer(chain.bank.address, bob, 1_000_000n)] };
    const [first, second] = [chain.sign(chain.bank, draft), chain.sign(chain.bank, draft)];
    liar.faults = { send: { error: 'nodeUnhealthy', reaches: true } };
    expect(await refusedSending(liar, first)).toEqual([-32_005, 'simulated: nodeUnhealthy']);
    liar.faults = { send: { reaches: false, id: first.signatures[0] ?? '' } };
    expect(await send(liar, second)).toBe(first.signatures[0]);
    expect(chain.mine().transactions.map(({ tx }) => tx)).toEqual([first]);
    liar.faults = { unhealthy: 42 };
    expect(await refusedSending(liar, second)).toEqual([-32_005, 'Node is behind by 42 slots']);
    expect(await refused(liar, 'getHealth')).toEqual([-32_005, 'Node is behind by 42 slots']);
  });

  it('changes accounts', async () => {
    chain.fund(bob, 5n);
    const of = () => askValue<(Json | null)[]>(liar, 'getMultipleAccounts', [bob], { encoding: 'base64' });
    liar.faults = { accounts: 'none' };
    expect(await of()).toEqual([null]);
    liar.faults = { accounts: 'more' };
    expect(await of()).toHaveLength(2);
    liar.faults = { accounts: 'other' };
    expect((await of())[0]?.lamports).toBe(Number(chain.balance(chain.bank.address)));
    liar.faults = { accounts: 'huge' };
    const usdc = chain.mint('USDC');
    chain.giveTokens(bob, usdc, 5n);
    const body = { jsonrpc: '2.0', id: 1, method: 'getTokenAccountsByOwner' };
    const params = [bob, { mint: usdc.address }, { encoding: 'jsonParsed' }];
    const text = await (await post(liar, JSON.stringify({ ...body, params }))).text();
    expect(text).toContain('"lamports":18446744073709551615');
    expect(text).toContain('"amount":"18446744073709551615"');
  });

  it('answers with hostile numbers and texts', async () => {
    paid();
    const text = async (method: string, ...params: readonly unknown[]) =>
      (await post(liar, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text();
    const { slot } = chain.head;
    const written = {
      text: `"${slot}"`,
      float: `${slot}.5`,
      negative: `-${slot}`,
      huge: '18446744073709551616',
    } as const;
    for (const numbers of ['text', 'float', 'negative', 'huge'] as const) {
      liar.faults = { numbers };
      expect(await text('getSlot')).toContain(`"result":${written[numbers]},`);
      expect(await text('getBlocks', slot)).toContain(`[${written[numbers]}]`);
      expect(await text('getBlock', slot, blockForm)).not.toContain('"fee":5000,');
      expect(await text('getLatestBlockhash')).not.toContain(`"lastValidBlockHeight":${chain.head.height + 150},`);
    }
    liar.faults = { texts: 'odd' };
    expect(await ask<string>(liar, 'getGenesisHash')).toContain('DROP TABLE');
    const tx = chain.sign(chain.newAccount(), {
      instructions: [system.transfer(chain.bank.address, bob, 1n)],
      signers: [chain.bank],
    });
    expect(await ask<string>(liar, 'sendTransaction', inBase64(tx), { encoding: 'base64' })).toContain('</script>');
    liar.faults = { texts: 'long' };
    expect(await refused(liar, 'getBlock', slot + 9)).toEqual([-32_004, 'x'.repeat(1_000_000)]);
  });

  it('fails altogether, or rewrites its answers', async () => {
    liar.faults = { error: 'internal', methods: /^getSlot$/ };
    expect(await refused(liar, 'getSlot')).toEqual([-32_603, 'simulated: internal']);
    expect(await ask(liar, 'getHealth')).toBe('ok');
    for (const transport of [429, 503] as const) {
      liar.faults = { transport };
      expect((await post(liar, '{"jsonrpc":"2.0","id":1,"method":"getSlot"}')).status).toBe(transport);
    }
    liar.faults = { rewrite: (method, result) => (method === 'getSlot' ? [result] : result) };
    expect(await both('getSlot')).toEqual([chain.head.slot, [chain.head.slot]]);
    expect(await askHead(liar, chain)).toEqual(await askHead(honest, chain));
  });
});
