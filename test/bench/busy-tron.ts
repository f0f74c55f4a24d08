// A node of a busy Tron for `npm run bench -- scan --chain tron`, in a separate process so that
// its work is not counted. Tells where it listens, and the counts of its requests when asked.
import { parseArgs } from 'node:util';
import { serveBusyTron } from '../support/chains/busy-tron.ts';

const { values } = parseArgs({
  options: { blocks: { type: 'string' }, 'per-block': { type: 'string' }, own: { type: 'string' } },
});
const { url, genesis, takeCounts } = await serveBusyTron({
  blocks: Number(values.blocks),
  perBlock: Number(values['per-block']),
  ownPerBlock: Number(values.own),
});
process.on('message', () => process.send?.(takeCounts()));
process.on('disconnect', () => process.exit(0));
process.send?.({ url, genesis });
