import type { Foundation } from './foundation.ts';

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
