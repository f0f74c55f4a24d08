import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError, getOperationAST, parse, specifiedRules, validate } from 'graphql';
import { CloseCode, handleProtocols, type SubscribePayload } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { v7 as uuidv7 } from 'uuid';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../errors.ts';
import { addressPrefix } from '../limits/client-address.ts';
import { errorMembers } from '../log.ts';
import type { StaffCaller } from '../staff/staff-authenticator.ts';
import { GraphqlContext } from './context.ts';
import type { StaffDoor } from './http.ts';
import { graphqlError, operationLimits, refuseUnfit, validationRules } from './limits.ts';
import { countFailure, countOperation, type StaffApiOptions, toldError } from './operation.ts';

const path = '/graphql';
const largestMessage = 64 * 1024;
const subscriptionsPerConnection = 20;
const connectionsPerMember = 10;
/** How often it is asked whether whoever listens may still. */
const proveEveryMs = 15_000;
/** A connection ends after an hour; clients come back by themselves. */
const longestMs = 3_600_000;

/** Who is behind a connection, from its upgrade on. */
interface Session {
  caller: StaffCaller;
  readonly requestId: string;
  readonly ip: string;
}

export interface SocketServer {
  /** Takes the upgrade of a connection to /graphql, and refuses every other. */
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly stop: () => Promise<void>;
}

/**
 * Subscriptions over WebSocket, in the graphql-transport-ws protocol. A caller is proven at the upgrade and again while
 * the connection lasts, and each operation has the limits that it has over HTTP.
 */
export function createSocketServer(options: StaffApiOptions, door: StaffDoor): SocketServer {
  const { schema, sources, log } = options;
  const sessions = new WeakMap<IncomingMessage, Session>();
  const connections = new Map<string, number>();
  const server = new WebSocketServer({ noServer: true, maxPayload: largestMessage, handleProtocols });

  const sessionOf = (req: IncomingMessage): Session => {
    const session = sessions.get(req);
    if (!session) throw new Error('a connection without a caller');
    return session;
  };

  async function prepare(req: IncomingMessage, open: number, payload: SubscribePayload): Promise<ExecutionArgs> {
    const { requestId, ip } = sessionOf(req);
    // Proven anew, so that whoever was shut out since the connection began gets nothing more.
    const caller = await door.caller(req);
    if (!caller) throw new AppError('unauthorized', 'sign in again');
    await countOperation(options, caller);
    if (open > subscriptionsPerConnection) {
      throw new AppError('query_too_complex', `a connection has at most ${subscriptionsPerConnection} subscriptions`);
    }
    const document = parse(payload.query, { maxTokens: operationLimits.tokens });
    const [fault] = validate(schema, document, [...specifiedRules, ...validationRules]);
    if (fault) throw fault;
    const operationName = payload.operationName ?? undefined;
    if (getOperationAST(document, operationName)?.operation !== 'subscription') {
      throw new AppError('invalid_request', 'only subscriptions run here; send queries and mutations by POST');
    }
    const variableValues = payload.variables ?? {};
    refuseUnfit(schema, document, operationName, variableValues);
    const contextValue = new GraphqlContext(sources, { caller, requestId, ip });
    return { schema, document, contextValue, variableValues, ...(operationName ? { operationName } : {}) };
  }

  const handling = useServer<Record<string, never>>(
    {
      schema,
      onSubscribe: async ({ extra, subscriptions }, _id, payload) => {
        try {
          return await prepare(extra.request, Object.keys(subscriptions).length, payload);
        } catch (error) {
          if (error instanceof AppError) return [graphqlError(error)];
          if (error instanceof GraphQLError) return [error];
          const cause = error instanceof Error ? error : new Error('not an error');
          return [new GraphQLError('failed', { originalError: cause })];
        }
      },
      onNext: ({ extra }, _id, _payload, _args, result) => {
        if (!result.errors) return;
        const { requestId } = sessionOf(extra.request);
        const errors = result.errors.map((error) => toldError(log, requestId, error.toJSON(), error));
        const { data = null } = result;
        return { data, errors };
      },
      onError: ({ extra }, _id, _payload, errors) => {
        const { requestId } = sessionOf(extra.request);
        return errors.map((error) => toldError(log, requestId, error.toJSON(), error));
      },
    },
    server,
  );

  /** Keeps asking whether the caller may still listen; one whose role changed connects anew. */
  function watch(socket: WebSocket, req: IncomingMessage): void {
    const session = sessionOf(req);
    const { id } = session.caller;
    connections.set(id, (connections.get(id) ?? 0) + 1);
    const prove = async (): Promise<void> => {
      const caller = await door.caller(req, false);
      if (!caller || caller.role !== session.caller.role) socket.close(CloseCode.Forbidden, 'sign in again');
    };
    const proving = setInterval(() => {
      prove().catch((error) => log.warn({ event: 'live_failed', ...errorMembers(error) }, 'a caller was not proven'));
    }, proveEveryMs).unref();
    const end = setTimeout(() => socket.close(1001, 'connect again'), longestMs).unref();
    socket.once('close', () => {
      clearInterval(proving);
      clearTimeout(end);
      const left = (connections.get(id) ?? 1) - 1;
      if (left === 0) connections.delete(id);
      else connections.set(id, left);
    });
  }

  async function admit(req: IncomingMessage): Promise<Session> {
    if (req.url?.split('?', 1)[0] !== path) throw new AppError('not_found', 'nothing here');
    // A browser tells where a page comes from and asks nobody before it connects, whatever proves the caller.
    if (req.headers.origin !== undefined && !door.isSameOrigin(req)) {
      throw new AppError('foreign_origin', 'pages of this gateway only');
    }
    const caller = await door.caller(req);
    if (!caller) {
      await countFailure(options, req.socket.remoteAddress ?? '', door.failuresPerMin);
      throw new AppError('unauthorized', 'sign in first');
    }
    if (caller.via === 'session' && !door.isSameOrigin(req)) {
      throw new AppError('foreign_origin', 'pages of this gateway only');
    }
    if ((connections.get(caller.id) ?? 0) >= connectionsPerMember) {
      throw new AppError('rate_limited', `a member has at most ${connectionsPerMember} connections`);
    }
    return { caller, requestId: uuidv7(), ip: addressPrefix(req.socket.remoteAddress ?? '') };
  }

  return {
    upgrade: (req, socket, head) => {
      socket.on('error', () => socket.destroy());
      admit(req)
        .then((session) => {
          sessions.set(req, session);
          server.handleUpgrade(req, socket, head, (ws) => {
            watch(ws, req);
            server.emit('connection', ws, req);
            // graphql-ws would write what a client sends wrongly to the console. The connection is closed by then.
            ws.removeAllListeners('error');
            ws.on('error', (error) =>
              log.warn({ event: 'live_failed', ...errorMembers(error) }, 'a client was cut off'),
            );
          });
        })
        .catch((error: unknown) => {
          const status = error instanceof AppError ? error.status : 503;
          socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        });
    },
    stop: async () => {
      await handling.dispose();
      for (const client of server.clients) client.terminate();
    },
  };
}
