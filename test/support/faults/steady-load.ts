import { Agent, get } from 'node:http';

/** What clients saw that ask without a pause. */
export interface SteadyLoad {
  /** This many were answered 200 so far. */
  readonly answered: number;
  /** Everything else that happened, in words. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function answerOf(url: string, agent: Agent, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (reply) => {
      let body = '';
      reply.setEncoding('utf8').on('data', (text) => (body += text));
      reply.once('error', reject);
      reply.once('end', () => resolve({ status: reply.statusCode ?? 0, body }));
    }).once('error', reject);
  });
}

/** The status of one request. */
export async function ask(url: string, agent: Agent, headers: Record<string, string> = {}): Promise<number> {
  return (await answerOf(url, agent, headers)).status;
}

/**
 * Asks for the address again and again: half of the clients keep their connection, half make one
 * for each request.
 */
export function steadyLoad(url: string, clients = 8, headers: Record<string, string> = {}): SteadyLoad {
  const failures: string[] = [];
  let answered = 0;
  let stopped = false;
  const client = async (agent: Agent): Promise<void> => {
    while (!stopped) {
      try {
        const { status, body } = await answerOf(url, agent, headers);
        if (status === 200) answered++;
        else failures.push(`status ${status} ${body}`);
      } catch (error) {
        failures.push(String(error));
      }
    }
    agent.destroy();
  };
  const running = Array.from({ length: clients }, (_, i) =>
    client(new Agent({ keepAlive: i % 2 === 0, maxSockets: 1 })),
  );
  return {
    get answered() {
      return answered;
    },
    failures,
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
}
