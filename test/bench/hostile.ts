import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { toChecksumAddress } from '../../src/chains/addresses/evm.ts';
import { EvmLiar } from '../support/chains/evm-liar.ts';
import { wholeNumber } from '../support/command-line.ts';
import { type RealOrder, startRealGateway } from '../support/gateway/real-gateway.ts';

// How long an honest payout waits behind payouts of another partner whose recipients take nothing,
// on a node that answers late.

const usage = `Usage: npm run bench -- hostile [options]

  --attackers <n>  payouts whose recipient undoes them (60)
  --delay-ms <n>   how late the node answers each request (60)

Needs anvil and litecoind. Prints how long an honest payout waits from its decision until a node has it: alone, beside
attackers that were tried before, and behind attackers that were decided just before it.
`;
const { values } = parseArgs({
  options: {
    attackers: { type: 'string', default: '60' },
    'delay-ms': { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const attackers = wholeNumber(values, 'attackers');
const delayMs = wholeNumber(values, 'delay-ms', 0);

const dataDir = await mkdtemp(join(tmpdir(), 'bench-hostile-'));
const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, database: 'template_gateway' });
process.env.TEST_POSTGRES_URL = postgres.url;
let liar: EvmLiar | undefined;
const gateway = await startRealGateway({
  networks: async ({ anvil }) => {
    liar = await new EvmLiar(anvil.url).start();
    return { ethereum: { nodes: [{ url: liar.node.url }] } };
  },
});
const refuser = toChecksumAddress((await gateway.chains.anvil.deploy('Refuser')).slice(2));
if (liar) {
  liar.lie = async (_method, result) => {
    await sleep(delayMs);
    return result;
  };
}

const honest = await gateway.partner();

/** Orders to the recipient; those without one are of another partner. */
async function orders(count: number, recipient: string | null): Promise<RealOrder[]> {
  const made: RealOrder[] = [];
  for (let at = 0; at < count; at += 1) {
    const order =
      recipient === null
        ? await gateway.order('LTC', 'ETH', 0.5, {}, honest.key)
        : await gateway.order('LTC', 'ETH', 0.5, { recipient_address: recipient });
    await gateway.pay(order);
    made.push(order);
  }
  return made;
}

/** Waits until a statement has a row, and returns when that was. */
async function until(sql: string, values: unknown[]): Promise<number> {
  for (;;) {
    if ((await gateway.query(sql, values)).length > 0) return performance.now();
    await sleep(10);
  }
}

async function waitOf(order: RealOrder | undefined): Promise<number> {
  if (!order) throw new Error('no order was made');
  const decided = await until('select 1 from payment where order_id = $1', [order.id]);
  const sent = await until('select 1 from payment where order_id = $1 and sent_at is not null', [order.id]);
  return (sent - decided) / 1_000;
}

const time = setInterval(() => gateway.clock.advance(100), 100);
await gateway.settlement.worker.start();
try {
  const figures: [string, number][] = [];
  const [alone] = await orders(1, null);
  await gateway.mine('litecoin', 2);
  figures.push(['alone', await waitOf(alone)]);
  await gateway.mine('ethereum', 6);
  await orders(attackers, refuser);
  const [behind] = await orders(1, null);
  await gateway.mine('litecoin', 2);
  figures.push([`behind ${attackers} attackers that were decided with it`, await waitOf(behind)]);
  await until(`select 1 from payment where problem = 'would_fail' having count(*) >= $1`, [attackers]);
  const waits: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const [beside] = await orders(1, null);
    await gateway.mine('litecoin', 2);
    waits.push(await waitOf(beside));
  }
  figures.push([`beside ${attackers} attackers that were tried before, the longest of 5`, Math.max(...waits)]);
  for (const [what, seconds] of figures) process.stdout.write(`an honest payout ${what}: ${seconds.toFixed(1)} s\n`);
} finally {
  clearInterval(time);
  await gateway.stop();
  await liar?.stop();
  await postgres.stop();
}
