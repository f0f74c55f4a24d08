import type { RequestHandler } from 'express';
import { createHttpHandler, type StaffDoor } from './http.ts';
import type { StaffApiOptions } from './operation.ts';
import { createSocketServer, type SocketServer } from './socket.ts';

/** The staff API: one schema, by POST and by WebSocket. */
export interface StaffApi {
  readonly handler: RequestHandler;
  readonly upgrade: SocketServer['upgrade'];
  stop(): Promise<void>;
}

export async function createStaffApi(options: StaffApiOptions, door: StaffDoor): Promise<StaffApi> {
  const http = await createHttpHandler(options, door);
  const socket = createSocketServer(options, door);
  return {
    handler: http.handler,
    upgrade: socket.upgrade,
    stop: async () => {
      options.sources.live.stop();
      await socket.stop();
      await http.stop();
    },
  };
}
