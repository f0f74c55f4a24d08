import type { RequestHandler } from 'express';
import { createHttpHandler, type StaffAuthentication } from './http.ts';
import type { StaffApiOptions } from './operation.ts';
import { SocketServer } from './socket.ts';

/** The staff API: one schema, by POST and by WebSocket. */
export interface StaffApi {
  readonly handler: RequestHandler;
  readonly upgrade: SocketServer['upgrade'];
  stop(): Promise<void>;
}

export async function createStaffApi(options: StaffApiOptions, authentication: StaffAuthentication): Promise<StaffApi> {
  const http = await createHttpHandler(options, authentication);
  const socket = new SocketServer(options, authentication);
  return {
    handler: http.handler,
    upgrade: (req, stream, head) => socket.upgrade(req, stream, head),
    stop: async () => {
      options.sources.live.stop();
      await socket.stop();
      await http.stop();
    },
  };
}
