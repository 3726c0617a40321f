/** InvalidCall reports a call that the client refuses to send: the caller's mistake. The message begins with the name of the argument. */
export class InvalidCall extends TypeError {
  override readonly name = "InvalidCall";
}
