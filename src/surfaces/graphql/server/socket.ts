import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError, getOperationAST, parse, specifiedRules, validate } from 'graphql';
import { CloseCode, type Disposable, handleProtocols, type SubscribePayload } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { v7 as uuidv7 } from 'uuid';
import { type WebSocket, WebSocketServer } from 'ws';
import type { StaffCaller } from '../../../accounts/staff/staff-authenticator.ts';
import { AppError } from '../../../base/errors.ts';
import { addressKeys, addressPrefix, blockFactor } from '../../../base/limits/client-address.ts';
import { errorMembers } from '../../../base/log.ts';
import { GraphqlContext } from './context.ts';
import type { StaffAuthentication } from './http.ts';
import { graphqlError, operationLimits, refuseUnsafeOperation, validationRules } from './limits.ts';
import { countFailure, countOperation, publicError, type StaffApiOptions } from './operation.ts';

const path = '/graphql';
const largestMessage = 64 * 1024;
const subscriptionsPerConnection = 20;
const connectionsPerMember = 10;
/** How often the caller of an open connection is authenticated again. */
const proveEveryMs = 15_000;
/** A connection ends after an hour. Clients reconnect by themselves. */
const longestMs = 3_600_000;

/** The caller of a connection. */
interface Session {
  caller: StaffCaller;
  readonly requestId: string;
  readonly ip: string;
}

/**
 * Serves subscriptions over WebSocket, with the graphql-transport-ws protocol. Authenticates the
 * caller at the upgrade and again while the connection is open. Each operation has the same limits
 * as over HTTP. A connection does not extend a session: clients connect again by themselves.
 */
export class SocketServer {
  readonly #options: StaffApiOptions;
  readonly #authentication: StaffAuthentication;
  readonly #sessions = new WeakMap<IncomingMessage, Session>();
  /** Number of connections that are open or ask to be, by member and by client address. */
  readonly #connections = new Map<string, number>();
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: largestMessage, handleProtocols });
  readonly #protocol: Disposable;

  constructor(options: StaffApiOptions, authentication: StaffAuthentication) {
    this.#options = options;
    this.#authentication = authentication;
    this.#protocol = this.#serve();
  }

  /** Accepts upgrades of connections to /graphql, and refuses all other upgrades. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { log } = this.#options;
    socket.on('error', () => socket.destroy());
    this.#admit(req, socket)
      .then((session) => {
        this.#sessions.set(req, session);
        this.#server.handleUpgrade(req, socket, head, (ws) => {
          this.#watch(ws, req);
          this.#server.emit('connection', ws, req);
          // graphql-ws would write a client's protocol errors to the console. The connection is
          // then already closed.
          ws.removeAllListeners('error');
          ws.on('error', (error) => log.warn({ event: 'live_failed', ...errorMembers(error) }, 'a client was cut off'));
        });
      })
      .catch((error: unknown) => {
        const status = error instanceof AppError ? error.status : 503;
        // The client may leave its side open, and the connection would count for ever.
        socket.once('finish', () => socket.destroy());
        socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      });
  }

  async stop(): Promise<void> {
    await this.#protocol.dispose();
    for (const client of this.#server.clients) client.terminate();
  }

  #serve(): Disposable {
    const { schema, log } = this.#options;
    return useServer<Record<string, never>>(
      {
        schema,
        onSubscribe: async ({ extra, subscriptions }, _id, payload) => {
          try {
            return await this.#prepare(extra.request, Object.keys(subscriptions).length, payload);
          } catch (error) {
            if (error instanceof AppError) return [graphqlError(error)];
            if (error instanceof GraphQLError) return [error];
            const cause = error instanceof Error ? error : new Error('not an error');
            return [new GraphQLError('failed', { originalError: cause })];
          }
        },
        onNext: ({ extra }, _id, _payload, _args, result) => {
          if (!result.errors) return;
          const { requestId } = this.#sessionOf(extra.request);
          const errors = result.errors.map((error) => publicError(log, requestId, error.toJSON(), error));
          const { data = null } = result;
          return { data, errors };
        },
        onError: ({ extra }, _id, _payload, errors) => {
          const { requestId } = this.#sessionOf(extra.request);
          return errors.map((error) => publicError(log, requestId, error.toJSON(), error));
        },
      },
      this.#server,
    );
  }

  /** Counts the connection before anything is looked up for it, and until it is closed. */
  async #admit(req: IncomingMessage, socket: Duplex): Promise<Session> {
    const authentication = this.#authentication;
    if (req.url?.split('?', 1)[0] !== path) throw new AppError('not_found', 'there is nothing at this path');
    this.#countAddress(authentication.clientAddress(req), socket);
    // A browser opens a WebSocket to any host without asking first, and tells the page's origin. So
    // the origin is checked for every kind of caller.
    if (req.headers.origin !== undefined && !authentication.isSameOrigin(req)) {
      throw new AppError('foreign_origin', 'only pages of this gateway may connect');
    }
    const caller = await authentication.caller(req, false);
    if (!caller) {
      await countFailure(this.#options, authentication.clientAddress(req), authentication.failuresPerMin);
      throw new AppError('unauthorized', 'sign in first');
    }
    if (caller.via === 'session' && !authentication.isSameOrigin(req)) {
      throw new AppError('foreign_origin', 'only pages of this gateway may connect');
    }
    this.#count(`member ${caller.id}`, connectionsPerMember, 'a member', socket);
    return { caller, requestId: uuidv7(), ip: addressPrefix(authentication.clientAddress(req)) };
  }

  #countAddress(address: string, socket: Duplex): void {
    const { socketsPerAddress: most } = this.#options;
    const { host, block } = addressKeys(address);
    this.#count(`address ${host}`, most, 'an address', socket);
    if (block !== null) this.#count(`address ${block}`, most * blockFactor, 'an address block', socket);
  }

  /** @throws AppError rate_limited when `most` connections of the same key are open. */
  #count(key: string, most: number, whose: string, socket: Duplex): void {
    const connections = this.#connections;
    // Its end was reported before, and would never be counted.
    if (socket.destroyed) throw new AppError('unavailable', 'the client has gone');
    const open = connections.get(key) ?? 0;
    if (open >= most) throw new AppError('rate_limited', `${whose} has at most ${most} connections`);
    connections.set(key, open + 1);
    socket.once('close', () => {
      const left = (connections.get(key) ?? 1) - 1;
      if (left === 0) connections.delete(key);
      else connections.set(key, left);
    });
  }

  async #prepare(req: IncomingMessage, open: number, payload: SubscribePayload): Promise<ExecutionArgs> {
    const { schema, sources } = this.#options;
    const { requestId, ip } = this.#sessionOf(req);
    // Authenticated again, so that a caller who lost access since the connection began gets nothing
    // more.
    const caller = await this.#authentication.caller(req, false);
    if (!caller) throw new AppError('unauthorized', 'sign in again');
    await countOperation(this.#options, caller);
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
    refuseUnsafeOperation(schema, document, operationName, variableValues);
    const contextValue = new GraphqlContext(sources, { caller, requestId, ip });
    return { schema, document, contextValue, variableValues, ...(operationName ? { operationName } : {}) };
  }

  /** Authenticates the caller repeatedly. A caller whose role changed must connect again. */
  #watch(socket: WebSocket, req: IncomingMessage): void {
    const session = this.#sessionOf(req);
    const prove = async (): Promise<void> => {
      const caller = await this.#authentication.caller(req, false);
      if (!caller || caller.role !== session.caller.role) socket.close(CloseCode.Forbidden, 'sign in again');
    };
    const proving = setInterval(() => {
      prove().catch((error) =>
        this.#options.log.warn({ event: 'live_failed', ...errorMembers(error) }, 'a caller was not proven'),
      );
    }, proveEveryMs).unref();
    const end = setTimeout(() => socket.close(1001, 'connect again'), longestMs).unref();
    socket.once('close', () => {
      clearInterval(proving);
      clearTimeout(end);
    });
  }

  #sessionOf(req: IncomingMessage): Session {
    const session = this.#sessions.get(req);
    if (!session) throw new Error('a connection without a caller');
    return session;
  }
}
