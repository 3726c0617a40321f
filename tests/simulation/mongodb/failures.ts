/** Failures of a call with an unknown outcome, as the driver and the server name them. */

export const lostConnection = (): Error =>
  Object.assign(new Error("connection closed"), { name: "MongoNetworkError" });

export const steppedDown = (): Error =>
  Object.assign(new Error("interrupted: the primary steps down"), {
    name: "MongoServerError",
    code: 11_602,
  });
