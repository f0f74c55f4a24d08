import { readFileSync } from 'node:fs';
import {
  ask,
  askHead,
  askValue,
  blockForm,
  describeWithVm,
  inBase64,
  type Json,
  post,
  refused,
  type ShownBlock,
  statusOf,
} from '../../support/chains/solana-calls.ts';
import { system } from '../../support/chains/solana-node/instructions.ts';
import { associatedAddress, keyOf, programs, wrappedSol } from '../../support/chains/solana-node/keys.ts';
import { type SolanaChain, type SolanaNode, startSolana } from '../../support/chains/solana-node.ts';

describeWithVm('a simulated server of Solana', () => {
  let chain: SolanaChain;
  let node: SolanaNode;
  const bob = keyOf('bob').address;

  beforeEach(async () => {
    chain = startSolana();
    node = await chain.node();
  });
  afterEach(() => chain.stop());

  const mine = (blocks: number): void => {
    for (let made = 0; made < blocks; made += 1) chain.mine();
  };

  it('tells its network, its health, its newest block and its rent', async () => {
    mine(3);
    const { slot, height, hash } = chain.head;
    expect(slot - height).toBeGreaterThan(20_000_000);
    expect(await ask(node, 'getGenesisHash')).toBe(chain.genesis);
    expect(await ask(node, 'getHealth')).toBe('ok');
    expect(await ask(node, 'getVersion')).toEqual({ 'feature-set': expect.any(Number), 'solana-core': '4.1.2' });
    expect([await ask(node, 'getSlot'), await ask(node, 'getBlockHeight')]).toEqual([slot, height]);
    expect(await ask(node, 'getFirstAvailableBlock')).toBe(slot - 3);
    expect(await ask(node, 'getLatestBlockhash')).toEqual({
      context: { apiVersion: '4.1.2', slot },
      value: { blockhash: hash, lastValidBlockHeight: height + 150 },
    });
    const rents = [0, 165].map((space) => ask(node, 'getMinimumBalanceForRentExemption', space));
    expect(await Promise.all(rents)).toEqual([650_240, 1_488_440]);
    expect(node.asked.slice(0, 3)).toEqual(['getGenesisHash', 'getHealth', 'getVersion']);
    expect(startSolana({ name: 'another' }).genesis).not.toBe(chain.genesis);
  });

  it('answers several calls at once, in their order', async () => {
    const calls = ['getSlot', 'getHealth', 'getNothing'].map((method, id) => ({ jsonrpc: '2.0', id, method }));
    const answers = (await (await post(node, JSON.stringify(calls))).json()) as Json[];
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(answers[1]).toEqual({ jsonrpc: '2.0', result: 'ok', id: 1 });
    expect(answers[2]).toMatchObject({ error: { code: -32_601, message: 'Method not found' } });
    expect(node.asked).toEqual(['getSlot,getHealth,getNothing']);
  });

  it('refuses what is no call', async () => {
    const code = async (body: string) => ((await (await post(node, body)).json()) as { error: Json }).error.code;
    expect(await code('{')).toBe(-32_700);
    for (const body of ['[]', '{"method":"getSlot"}', '{"jsonrpc":"2.0","method":"getSlot","params":{}}']) {
      expect(await code(body)).toBe(-32_600);
    }
    expect((await fetch(node.config.url)).status).toBe(405);
  });

  describe('shows blocks', () => {
    it('that join over slots without one', async () => {
      const first = chain.head;
      chain.skip(3);
      const second = chain.mine();
      chain.skip(1);
      mine(1);
      expect(await ask(node, 'getBlocks', first.slot)).toEqual([first.slot, first.slot + 4, first.slot + 6]);
      expect(await ask(node, 'getBlocks', first.slot + 1, first.slot + 5)).toEqual([second.slot]);
      expect(await ask(node, 'getBlocks', first.slot + 1, null, { commitment: 'confirmed' })).toHaveLength(2);
      expect(await ask(node, 'getBlocksWithLimit', first.slot, 2)).toEqual([first.slot, second.slot]);
      expect(await ask(node, 'getBlocks', first.slot + 5, first.slot)).toEqual([]);
      const block = await ask<ShownBlock>(node, 'getBlock', second.slot, blockForm);
      expect(block).toEqual({
        blockHeight: first.height + 1,
        blockTime: Math.floor(second.timeMs / 1_000),
        blockhash: second.hash,
        parentSlot: first.slot,
        previousBlockhash: first.hash,
        transactions: [],
      });
      expect(second.timeMs - first.timeMs).toBe(1_000);
    });

    it('and tells slots that have none by errors', async () => {
      chain.skip(1);
      mine(1);
      const { slot } = chain.head;
      const text = `Slot ${slot - 1} was skipped, or missing due to ledger jump to recent snapshot`;
      expect(await refused(node, 'getBlock', slot - 1, blockForm)).toEqual([-32_007, text]);
      expect(await refused(node, 'getBlock', slot + 1)).toEqual([-32_004, `Block not available for slot ${slot + 1}`]);
      const old = slot - 3;
      const cleaned = `Block ${old} cleaned up, does not exist on node. First available block: ${slot - 2}`;
      expect(await refused(node, 'getBlock', old)).toEqual([-32_001, cleaned]);
    });

    it('only when they are final', async () => {
      chain.unfinalized = 2;
      mine(3);
      const { slot } = chain.head;
      for (const commitment of ['confirmed', 'finalized']) {
        expect(await ask(node, 'getSlot', { commitment })).toBe(slot - 2);
        expect(await refused(node, 'getBlock', slot - 1, { commitment })).toEqual([-32_004, expect.any(String)]);
      }
      expect(await ask(node, 'getSlot', { commitment: 'processed' })).toBe(slot);
      expect(await refused(node, 'getBlock', slot, { commitment: 'processed' })).toEqual([
        -32_602,
        'Method does not support commitment below `confirmed`',
      ]);
      expect(await ask(node, 'getBlocks', slot - 3)).toEqual([slot - 3, slot - 2]);
    });

    it('to readers of their version only', async () => {
      chain.creditCoins('lookup', bob, 1_000_000n);
      mine(1);
      const ofZero = chain.head.slot;
      chain.creditCoins('version-1', bob, 1_000_000n);
      mine(1);
      const ofOne = chain.head.slot;
      const asked = { transactionDetails: 'accounts', maxSupportedTransactionVersion: 0 };
      const message = (version: number) =>
        `Transaction version (${version}) is not supported by the requesting client. Please try the request again ` +
        `with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`;
      expect(await refused(node, 'getBlock', ofZero)).toEqual([-32_015, message(0)]);
      expect(await refused(node, 'getBlock', ofOne, asked)).toEqual([-32_015, message(1)]);
      expect((await ask<ShownBlock>(node, 'getBlock', ofZero, asked)).transactions[0]?.version).toBe(0);
      expect((await askHead(node, chain)).transactions[0]?.version).toBe(1);
      expect(await refused(node, 'getTransaction', chain.head.transactions[0]?.tx.signatures[0])).toEqual([
        -32_015,
        message(1),
      ]);
    });

    it('in the shapes that the main network answers', async () => {
      const url = new URL('../../fixtures/solana/v1-mainnet-449391489.json', import.meta.url);
      const { block } = JSON.parse(readFileSync(url, 'utf8')) as { block: ShownBlock };
      chain.creditCoins('version-1', bob, 1_000_000n);
      mine(1);
      const settings = { maxSupportedTransactionVersion: 1, rewards: false };
      const shown = await ask<ShownBlock>(node, 'getBlock', chain.head.slot, settings);
      const [ours, theirs] = [shown, block].map((one) => shapeOf({ ...one, transactions: one.transactions[0] }));
      // The cost of a block's work, which is not simulated, and what failed.
      const left = ['transactions.meta.costUnits: number', 'transactions.meta.status.Err', 'transactions.meta.err.'];
      const kept = theirs?.filter((one) => !left.some((start) => one.startsWith(start)));
      const own = ours?.filter((one) => !/\.status\.|meta\.err/.test(one));
      expect(own).toEqual(kept);
    });

    it('in base64, by their ids, or without transactions', async () => {
      const id = chain.pay(chain.bank, bob, 1_000_000n);
      mine(1);
      const { slot } = chain.head;
      const wire = chain.head.transactions[0]?.tx.wire ?? new Uint8Array();
      const whole = await ask<ShownBlock>(node, 'getBlock', slot, { encoding: 'base64', rewards: true });
      expect(whole.transactions).toMatchObject([{ transaction: [Buffer.from(wire).toString('base64'), 'base64'] }]);
      expect(whole.rewards).toEqual([]);
      expect(whole.transactions[0]).not.toHaveProperty('version');
      const ids = await ask(node, 'getBlock', slot, { transactionDetails: 'signatures' });
      expect([ids.signatures, ids.transactions]).toEqual([[id], undefined]);
      expect(await ask(node, 'getBlock', slot, { transactionDetails: 'none' })).not.toHaveProperty('transactions');
      expect(await ask(node, 'getTransaction', id)).toMatchObject({ slot, transactionIndex: 0, meta: { fee: 5_000 } });
      expect(await ask(node, 'getTransaction', keyOf('none').address)).toBeNull();
    });
  });

  describe('finds transactions', () => {
    it('with their slot and their result', async () => {
      const id = chain.pay(chain.bank, bob, 1_000_000n);
      expect(await statusOf(node, id)).toBeNull();
      chain.unfinalized = 1;
      mine(1);
      const { slot } = chain.head;
      const status = { err: null, slot, status: { Ok: null } };
      expect(await statusOf(node, id)).toEqual({ ...status, confirmationStatus: 'processed', confirmations: 0 });
      mine(1);
      expect(await statusOf(node, id)).toEqual({ ...status, confirmationStatus: 'finalized', confirmations: null });
    });

    it('of the newest 300 blocks without history, and all of them with it', async () => {
      const id = chain.pay(chain.bank, bob, 1_000_000n);
      mine(300);
      const recent = () => askValue(node, 'getSignatureStatuses', [id]);
      expect(await recent()).toMatchObject([{ err: null }]);
      mine(1);
      expect(await recent()).toEqual([null]);
      expect(await statusOf(node, id)).toMatchObject({ err: null });
      expect(await refused(node, 'getSignatureStatuses', Array(257).fill(id))).toEqual([
        -32_602,
        'Too many inputs provided; max 256',
      ]);
    });
  });

  describe('shows accounts', () => {
    it('with their coins and bytes, and nothing where there is none', async () => {
      chain.fund(bob, 12_345_678n);
      const form = { encoding: 'base64' };
      const value = { data: ['', 'base64'], executable: false, lamports: 12_345_678, owner: programs.system, space: 0 };
      expect(await askValue(node, 'getAccountInfo', bob, form)).toMatchObject(value);
      const none = keyOf('no account').address;
      expect(await askValue(node, 'getMultipleAccounts', [none, bob], form)).toMatchObject([null, value]);
      expect(await askValue(node, 'getBalance', bob)).toBe(12_345_678);
      const mint = await askValue<{ data: [string] }>(node, 'getAccountInfo', wrappedSol, {
        ...form,
        dataSlice: { offset: 44, length: 1 },
      });
      expect(Buffer.from(mint.data[0], 'base64')).toEqual(Buffer.of(9));
      const body = { jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params: [bob, form] };
      expect(await (await post(node, JSON.stringify(body))).text()).toContain('"rentEpoch":18446744073709551615');
    });

    it('of tokens by their owner and their mint', async () => {
      const [usdc, other] = [chain.mint('USDC'), chain.mint('OTHER', { program: 'token2022', decimals: 0 })];
      chain.giveTokens(bob, usdc, 1_500_000n);
      chain.giveTokens(bob, other, 3n);
      const form = { encoding: 'jsonParsed' };
      const listed = await askValue<Json[]>(node, 'getTokenAccountsByOwner', bob, { mint: usdc.address }, form);
      const info = {
        isNative: false,
        mint: usdc.address,
        owner: bob,
        state: 'initialized',
        tokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' },
      };
      expect(listed).toMatchObject([
        { pubkey: associatedAddress(bob, usdc.address, programs.token), account: { data: { parsed: { info } } } },
      ]);
      const ofProgram = { programId: programs.token2022 };
      const [account] = await askValue<Json[]>(node, 'getTokenAccountsByOwner', bob, ofProgram, form);
      expect(account).toMatchObject({
        account: { data: { parsed: { info: { tokenAmount: { uiAmountString: '3' } } } } },
      });
      const missing = await refused(node, 'getTokenAccountsByOwner', bob, { mint: bob }, form);
      expect(missing).toEqual([-32_602, 'Invalid param: could not find mint']);
    });

    it('as they were, on a server that is behind', async () => {
      const behind = await chain.node({ lag: 2 });
      const usdc = chain.mint('USDC');
      mine(2);
      chain.pay(chain.bank, bob, 1_000_000n);
      chain.pay(chain.bank, bob, 7n, { mint: usdc });
      mine(1);
      const balances = () => Promise.all([node, behind].map((one) => askValue(one, 'getBalance', bob)));
      const tokens = () =>
        askValue<Json[]>(behind, 'getTokenAccountsByOwner', bob, { mint: usdc.address }, { encoding: 'base64' });
      expect(await balances()).toEqual([1_000_000, 0]);
      expect(await tokens()).toEqual([]);
      expect(await ask(behind, 'getSlot')).toBe(chain.head.slot - 2);
      const { slot } = chain.head;
      const reached = await refused(behind, 'getAccountInfo', bob, { minContextSlot: slot });
      expect(reached).toEqual([-32_016, 'Minimum context slot has not been reached']);
      expect(await ask(node, 'getSlot', { minContextSlot: slot })).toBe(slot);
      mine(2);
      expect(await balances()).toEqual([1_000_000, 1_000_000]);
      expect(await tokens()).toHaveLength(1);
    });

    it('but no long ones in base58', async () => {
      const text = 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.';
      const mint = chain.mint('USDC');
      chain.giveTokens(bob, mint, 5n);
      const account = associatedAddress(bob, mint.address, mint.program);
      expect(await refused(node, 'getAccountInfo', account, { encoding: 'base58' })).toEqual([-32_600, text]);
      expect(await askValue(node, 'getAccountInfo', wrappedSol)).toMatchObject({
        data: [expect.any(String), 'base58'],
      });
    });

    it('but not by parameters that are none', async () => {
      expect(await refused(node, 'getBalance')).toEqual([-32_602, '`params` should have at least 1 argument(s)']);
      expect(await refused(node, 'getBalance', 'abc')).toEqual([-32_602, 'Invalid param: WrongSize']);
      expect(await refused(node, 'getBalance', bob, 7)).toEqual([-32_602, expect.any(String)]);
      expect(await refused(node, 'getBalance', bob, { commitment: 'sure' })).toEqual([-32_602, expect.any(String)]);
      expect(await refused(node, 'getMultipleAccounts', Array(101).fill(bob))).toEqual([
        -32_602,
        'Too many inputs provided; max 100',
      ]);
    });
  });

  describe('tries transactions', () => {
    const draft = () => ({ instructions: [system.transfer(chain.bank.address, bob, 1_000_000n)] });
    const simulate = (tx: string, settings: Json = {}) =>
      askValue(node, 'simulateTransaction', tx, { encoding: 'base64', ...settings });

    it('without changing anything, and shows what accounts would be', async () => {
      const tx = inBase64(chain.sign(chain.bank, draft()));
      const accounts = { encoding: 'base64', addresses: [bob, programs.memo] };
      const trial = await simulate(tx, { accounts, sigVerify: true });
      expect(trial).toMatchObject({ err: null, unitsConsumed: 300, fee: 5_000, replacementBlockhash: null });
      expect(trial.accounts).toMatchObject([{ lamports: 1_000_000 }, { executable: true }]);
      expect(chain.balance(bob)).toBe(0n);
      const feeOf = (message: Uint8Array) =>
        askValue(node, 'getFeeForMessage', Buffer.from(message).toString('base64'));
      expect(await feeOf(chain.sign(chain.bank, draft()).message)).toBe(5_000);
    });

    it('also on a blockhash that is too old, or without signatures, when asked to', async () => {
      const tx = chain.sign(chain.bank, draft());
      const unsigned = tx.wire.slice().fill(0, 1, 65);
      const text = Buffer.from(unsigned).toString('base64');
      chain.expire(tx.blockhash);
      expect(await simulate(text)).toMatchObject({ err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 });
      const { hash, height } = chain.head;
      const replaced = { err: null, replacementBlockhash: { blockhash: hash, lastValidBlockHeight: height + 150 } };
      expect(await simulate(text, { replaceRecentBlockhash: true })).toMatchObject(replaced);
      const settings = { encoding: 'base64', sigVerify: true };
      expect(await refused(node, 'simulateTransaction', text, settings)).toEqual([-32_003, expect.any(String)]);
      expect(await refused(node, 'simulateTransaction', text, { ...settings, replaceRecentBlockhash: true })).toEqual([
        -32_602,
        'sigVerify may not be used with replaceRecentBlockhash',
      ]);
    });

    it('but nothing that is none, or too long', async () => {
      const long = Buffer.alloc(1_233, 1).toString('base64');
      const bad = ['', '!', 'AAAA', long, Buffer.alloc(4_097, 0x81).toString('base64')];
      for (const text of bad) {
        expect(await refused(node, 'sendTransaction', text, { encoding: 'base64' })).toEqual([
          -32_602,
          expect.any(String),
        ]);
      }
      expect(await refused(node, 'sendTransaction', inBase64(chain.sign(chain.bank, draft())))).toEqual([
        -32_602,
        expect.stringContaining('invalid base58 encoding'),
      ]);
    });

    it('and tells what others paid for priority', async () => {
      chain.pay(chain.bank, bob, 1_000_000n);
      mine(1);
      chain.creditCoins('priority', bob, 1_000_000n);
      mine(1);
      const fees = await ask<Json[]>(node, 'getRecentPrioritizationFees', [bob]);
      expect(fees.slice(-2).map(({ prioritizationFee }) => prioritizationFee)).toEqual([0, expect.any(Number)]);
      expect(fees.at(-1)?.prioritizationFee).toBeGreaterThan(0);
    });
  });
});

/** The members of a value with the kinds of what they hold; of a list, what its first one holds. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [`${path}: list`] : shapeOf(value[0], path);
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value)
    .flatMap(([name, one]) => shapeOf(one, path === '' ? name : `${path}.${name}`))
    .toSorted();
}
