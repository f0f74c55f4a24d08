import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { Recording, TakeOptions } from './recording.ts';
import type { World } from './world.ts';

/** The code that a phone reads draws the deposit address, which is random. */
const drawing: TakeOptions = {
  moving: [[/<svg [^>]*(aria-label="QR code[^"]*")[\s\S]*?<\/svg>/g, '<svg $1><drawing of the address></svg>']],
};

/** The page of an order as its user gets it at this moment. */
export async function recordPage(recording: Recording, world: World, name: string, order: MadeOrder): Promise<void> {
  const { status } = await world.gateway.show(order);
  await read(recording, world, `${status} ${name}`, await world.gateway.pathOf(order));
}

/** The files of the pages, and what stands where no page is. */
export async function recordPageFiles(recording: Recording, world: World): Promise<void> {
  const page = await fetch(`${world.gateway.app.restUrl}${await world.gateway.pathOf(world.order('waiting'))}`);
  const files = [...(await page.text()).matchAll(/(?:href|src)="(\/o\/page-\w+\.(css|js))"/g)];
  for (const [, path = '', kind = ''] of files) await read(recording, world, `file ${kind}`, path, true);
  await read(recording, world, 'nothing of an unknown link', `/o/${'A'.repeat(22)}`);
  await read(recording, world, 'nothing of a wrong link', '/o/x');
}

async function read(recording: Recording, world: World, title: string, path: string, isFile = false): Promise<void> {
  await world.second();
  // Other tests of this worker may have had the files compressed, which are shared by gateways.
  const reply = await fetch(`${world.gateway.app.restUrl}${path}`, { headers: { 'Accept-Encoding': 'identity' } });
  const { status, headers } = reply;
  recording.take(title, `GET ${path}`, { status, headers, text: await reply.text() }, { ...drawing, isFile });
}
