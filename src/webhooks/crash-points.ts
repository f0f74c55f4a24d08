/**
 * Places between two durable effects of webhooks. An effect is a commit, or something that a
 * receiver saw. A process that dies at any of them loses no event.
 */
export const webhookCrashPoints = {
  'webhook.dispatched': 'deliveries and the place in the feed are stored',
  'webhook.claimed': 'the attempt is stored, and no connection was made',
  'webhook.sent': 'the receiver has answered, and the answer is not stored',
  'webhook.stored': 'the result of the attempt is stored',
} as const;

export type WebhookCrashPoint = keyof typeof webhookCrashPoints;

/** Called at each crash point. Tests let it wait or end the process. */
export type OnWebhookCrashPoint = (name: WebhookCrashPoint) => Promise<void> | void;
