import { type Clock, systemClock } from '../base/clock.ts';
import { every, repeat, warning } from '../base/jobs/repeat.ts';
import { createLog, type Log } from '../base/log.ts';
import { type MetricsGroup, ProcessMetrics } from '../base/telemetry/process-metrics.ts';
import type { Config } from '../config/settings.ts';
import { ClosingStack } from './closing-stack.ts';
import type { OutsideWorld } from './outside-world.ts';

export interface AppOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  /** The database is our own embedded one. */
  readonly embedded: boolean;
  /** The api processes that share this one's ports; alone unless given. */
  readonly group?: MetricsGroup | null;
  readonly outside?: OutsideWorld;
}

/** The common dependencies of every part of a gateway. */
export interface Foundation {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly embedded: boolean;
  readonly group: MetricsGroup | null;
  /** False for a worker, which has no public listener and nothing for staff. */
  readonly servesPartners: boolean;
  readonly outside: OutsideWorld;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ProcessMetrics;
  /** Each part adds how it is closed. */
  readonly closing: ClosingStack;
  /** Prints one line of the start for a person. */
  readonly onProgress: (line: string) => void;
}

export function openFoundation({ config, databaseUrl, embedded, group = null, outside = {} }: AppOptions): Foundation {
  const log = createLog(config.LOG_LEVEL, outside.logStream);
  const metrics = new ProcessMetrics();
  group?.onGather(() => metrics.snapshot());
  return {
    config,
    databaseUrl,
    embedded,
    group,
    servesPartners: config.ROLE !== 'worker',
    outside,
    clock: outside.clock ?? systemClock,
    log,
    metrics,
    closing: new ClosingStack(log),
    onProgress: outside.onProgress ?? (() => {}),
  };
}

/**
 * Sends traces to the collector of the settings. Without one nothing of OpenTelemetry is loaded.
 */
export async function openTracing({ config, closing }: Foundation): Promise<void> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === null) return;
  const { openTracing } = await import('../base/telemetry/open-telemetry.ts');
  const tracing = openTracing({
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    ratio: Number(config.OTEL_TRACES_SAMPLER_ARG),
    role: config.ROLE,
  });
  closing.add(() => tracing.close());
}

/**
 * Repeats a task until the gateway closes. Closing does not wait for a run under way, which may be
 * long. The next start makes up for an interrupted run.
 *
 * @param event The name under which a failure is logged.
 */
export function inBackground(
  { log, closing }: Pick<Foundation, 'log' | 'closing'>,
  everyMs: number,
  event: string,
  task: () => Promise<unknown>,
): void {
  const onFailure = warning(log, event, 'a housekeeping task failed');
  const repeated = repeat({ task, rhythm: every(everyMs), onFailure });
  closing.add(() => void repeated.stop());
}
