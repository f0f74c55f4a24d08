// Prints schema/order-status.md: the state machine of orders as a diagram and a table. Needs dist.
import { orderMoves, orderStatuses } from '../dist/orders/order-status.js';

const resting = ['completed', 'expired', 'refunded', 'failed'];

export function orderStatusDocument() {
  const moves = Object.entries(orderMoves);
  const lines = moves.map(([cause, { from, to }]) => `  ${from} --> ${to}: ${cause}`);
  const rows = moves.map(([cause, { from, to, when }]) => `| ${from} | ${to} | \`${cause}\` | ${when} |`);
  return `<!-- Generated from src/orders/order-status.ts by npm run generate. Do not edit. -->

# The states of an order

\`\`\`mermaid
stateDiagram-v2
  [*] --> ${orderStatuses[0]}: created
${lines.join('\n')}
${resting.map((status) => `  ${status} --> [*]`).join('\n')}
\`\`\`

An order in ${resting.join(', ')} rests there unless one of the moves below takes it on.

| from | to | cause | when |
|---|---|---|---|
| – | ${orderStatuses[0]} | \`created\` | a partner creates the order |
${rows.join('\n')}
`;
}
