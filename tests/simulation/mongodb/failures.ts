/** Failures of a call after which it is not known what is done, as the driver and the server name them. */

export const lostConnection = (): Error =>
  Object.assign(new Error("connection closed"), { name: "MongoNetworkError" });

export const steppedDown = (): Error =>
  Object.assign(new Error("interrupted: the primary steps down"), {
    name: "MongoServerError",
    code: 11_602,
  });
