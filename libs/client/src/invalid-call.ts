/** A call that the client refuses to send: the caller's mistake, found before anything is asked. The message begins with the argument. */
export class InvalidCall extends TypeError {
  override readonly name = "InvalidCall";
}
