/** What a node answers instead of a result. */
export class Refusal {
  readonly code: number;
  readonly message: string;

  constructor(code: number, message = 'refused') {
    this.code = code;
    this.message = message;
  }
}
