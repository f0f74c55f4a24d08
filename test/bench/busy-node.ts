// A node of a busy chain for `npm run bench -- scan --chain <name>`, in a separate process so that
// its work is not counted. Tells where it listens, and the counts of its requests when asked.
import { parseArgs } from 'node:util';
import { serveBusySolana } from '../support/chains/busy-solana.ts';
import { serveBusyTron } from '../support/chains/busy-tron.ts';

const { values } = parseArgs({
  options: {
    chain: { type: 'string' },
    blocks: { type: 'string' },
    'per-block': { type: 'string' },
    own: { type: 'string' },
    pace: { type: 'string' },
  },
});
const serve = values.chain === 'solana' ? serveBusySolana : serveBusyTron;
const { url, genesis, takeCounts } = await serve({
  blocks: Number(values.blocks),
  perBlock: Number(values['per-block']),
  ownPerBlock: Number(values.own),
  pace: Number(values.pace),
});
process.on('message', () => process.send?.(takeCounts()));
process.on('disconnect', () => process.exit(0));
process.send?.({ url, genesis });
