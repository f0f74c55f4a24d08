/** An error that the model put between the gateway and the outside world. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}
