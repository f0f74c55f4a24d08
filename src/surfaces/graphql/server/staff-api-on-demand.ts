import { errorTable } from '../../../base/errors.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import type { StaffApi } from './staff-api.ts';

const retryAfterSec = 5;

/**
 * Builds the staff API at its first request or WebSocket. It is much code, and most processes serve
 * partners only. A build that fails answers 503, and the next request tries again.
 */
export function staffApiOnDemand(build: () => Promise<StaffApi>, log: Log): StaffApi {
  let built: Promise<StaffApi> | null = null;
  let hasStopped = false;

  const tryToBuild = async (): Promise<StaffApi> => {
    try {
      return await build();
    } catch (error) {
      built = null;
      log.error({ event: 'staff_api_failed', ...errorMembers(error) }, 'the staff API could not be opened');
      throw error;
    }
  };
  const open = async (): Promise<StaffApi | null> => {
    if (hasStopped) return null;
    built ??= tryToBuild();
    return built.catch(() => null);
  };

  return {
    handler: async (req, res, next) => {
      const api = await open();
      if (api) {
        api.handler(req, res, next);
        return;
      }
      const { status, graphql } = errorTable.unavailable;
      const message = `the staff API is not available; retry in ${retryAfterSec} seconds`;
      const extensions = { code: graphql, kind: 'unavailable', request_id: res.locals.requestId };
      res
        .status(status)
        .set('Retry-After', String(retryAfterSec))
        .json({ errors: [{ message, extensions }] });
    },
    upgrade: async (req, socket, head) => {
      // The client may be gone before the answer.
      socket.on('error', () => socket.destroy());
      const api = await open();
      if (api) api.upgrade(req, socket, head);
      else socket.end('HTTP/1.1 503 Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    },
    stop: async () => {
      hasStopped = true;
      const api = await built?.catch(() => null);
      await api?.stop();
    },
  };
}
