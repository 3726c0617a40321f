import { beforeAll, expect, it, jest } from "@jest/globals";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { render } from "./manifests.ts";

jest.setTimeout(buildMsMax);

/** A setting over the value set `minimal`, as `--set` or, for lists, `--set-json` takes it, and the text of the refusal. */
const refused = [
  ["kafka.brokers=null", "'brokers'"],
  ["kafka.brokers=[]", "kafka: the chart brings none"],
  ['kafka.brokers=["kafka"]', "/kafka/brokers/0"],
  ['kafka.brokers=["https://kafka:9092"]', "/kafka/brokers/0"],
  ["kafka.prefix=a/b", "/kafka/prefix"],
  ["kafka.partitions=65", "/kafka/partitions"],
  ["kafka.replication=0", "/kafka/replication"],
  ["kafka.tls=on", "/kafka/tls"],
  ["kafka.user=u", "user requires password or passwordFrom"],
  ["kafka.password=p", "a password requires user"],
  ["kafka.mechanism=gssapi", "/kafka/mechanism"],
  ["kafka.mechanism=oauthbearer", "kafka: oauthbearer requires oauth.tokenUrl"],
  ["kafka.mechanism=aws-msk-iam", "kafka: aws-msk-iam requires tls"],
  [
    "kafka.mechanism=aws-msk-iam,kafka.tls=true,kafka.user=u,kafka.password=p",
    "kafka: aws-msk-iam has no user",
  ],
  ["redis.url=", "redis: the chart brings none"],
  ["redis.url=http://redis", "/redis/url"],
  ["redis.urlFrom.name=a", "/redis/urlFrom"],
  ["redis.urlFrom.name=a,redis.urlFrom.key=b", "redis: set url or urlFrom, not both"],
  ["redis.budgetMs=0", "/redis/budgetMs"],
  ["redis.connectMs=9", "/redis/connectMs"],
  ["redis.budgetMs=3000,redis.connectMs=2000", "redis: connectMs must not be less than budgetMs"],
  ["redis.mode=cluster-of-three", "/redis/mode"],
  ["redis.url=redis://a\\,b", "redis: url names several hosts"],
  ["redis.sentinelUser=u", "redis: sentinelUser and sentinelPasswordFrom require mode sentinel"],
  ["redis.mode=sentinel,redis.sentinelUser=u", "redis: sentinelUser requires sentinelPasswordFrom"],
  ["mongodb.uri=", "mongodb: the chart brings none"],
  ["mongodb.uri=postgres://db", "/mongodb/uri"],
  ["mongodb.uriFrom.name=a,mongodb.uriFrom.key=b", "mongodb: set uri or uriFrom, not both"],
  ["mongodb.pool=0", "/mongodb/pool"],
  ["mongodb.heavyPool=2", "/mongodb/heavyPool"],
  ["mongodb.patienceMs=2000", "/mongodb/patienceMs"],
  ["mongodb.heavyMs=99", "/mongodb/heavyMs"],
  ["mongodb.heavyMs=2401", "mongodb: heavyMs must be at least 100 below patienceMs"],
  ["kafka.sessionMs=999", "/kafka/sessionMs"],
  ["kafka.requestMs=20001", "/kafka/requestMs"],
  ["mongodb.database=a.b", "/mongodb/database"],
  ["mongodb.caFrom.name=a", "/mongodb/caFrom"],
  ["mongodb.caFrom.name=a,mongodb.caFrom.configMap=a,mongodb.caFrom.key=b", "/mongodb/caFrom"],
  ["kafka.keyFrom.name=a,kafka.keyFrom.key=b", "kafka: certificateFrom and keyFrom go together"],
  ["redis.keyFrom.name=a,redis.keyFrom.key=b", "redis: certificateFrom and keyFrom go together"],
  [
    "mongodb.certificateFrom.name=a,mongodb.certificateFrom.key=b",
    "mongodb: certificateFrom and keyFrom go together",
  ],
  ["kafka.caFrom.configMap=a,kafka.caFrom.key=b", "kafka: caFrom and certificateFrom require tls"],
  ["credentials.managementUser=a:b", "/credentials/managementUser"],
  ["credentials.token=t", "token"],
  ["image.tag=a b", "/image/tag"],
  ["image.digest=sha256:1", "/image/digest"],
  ["logLevel=trace", "/logLevel"],
  ["metricsPort=8082", "metricsPort: 8080 and 8082 are taken"],
  ["metricsPort=65536", "/metricsPort"],
  ["traces.endpoint=collector:4318", "/traces/endpoint"],
  ["traces.ratio=2", "/traces/ratio"],
  ["otlp.metrics=true", "otlp: requires traces.endpoint"],
  ["otlp.logs=true", "otlp: requires traces.endpoint"],
  ["otlp.metricsSeconds=0", "/otlp/metricsSeconds"],
  ["monitoring.dashboards.consoleUrl=mail.example.com", "/monitoring/dashboards/consoleUrl"],
  ["drainSeconds=604801", "/drainSeconds"],
  ["drainSeconds=a minute", "/drainSeconds"],
  ['trustedProxies=["proxy"]', "/trustedProxies/0"],
  ['allowPrivateCidrs=["10.0.0.0/8/8"]', "/allowPrivateCidrs/0"],
  ["services.gateway.replicas=-1", "/services/gateway/replicas"],
  ["services.gateway.autoscaling.minReplicas=11", "minReplicas is above maxReplicas"],
  ["services.gateway.autoscaling.cpuUtilization=101", "/services/gateway/autoscaling"],
  ["services.gateway.service.type=ExternalName", "/services/gateway/service/type"],
  [
    "services.deliverer.autoscaling.maxReplicas=17",
    "maxReplicas: 17 is above kafka.partitions (16)",
  ],
  ["services.scheduler.replicas=17", "services.scheduler.replicas: 17 is above kafka.partitions"],
  [
    "kafka.partitions=8",
    "services.deliverer.autoscaling.maxReplicas: 10 is above kafka.partitions",
  ],
  ["services.deliverer.maxInFlight=0", "/services/deliverer/maxInFlight"],
  ["services.scheduler=null", "scheduler"],
  ["services.schedular.replicas=1", "schedular"],
  ["networkPolicy.redis.to=null", "/networkPolicy/redis"],
  ["networkPolicy.metrics.from=[]", "/networkPolicy/metrics/from"],
  ["networkPolicy.kafka.to=[]", "/networkPolicy/kafka/to"],
  ["networkPolicy.redis.ports=[0]", "/networkPolicy/redis/ports/0"],
  ["replicaCount=3", "replicaCount"],
  ["migrate.backoffLimit=-1", "/migrate/backoffLimit"],
  ["migrate.replicas=2", "replicas"],
  ["monitoring.podMonitor.enabled=true", "monitoring.podMonitor: requires metricsPort"],
  ["monitoring.podMonitor.interval=often", "/monitoring/podMonitor/interval"],
  ["keda.enabled=true", "keda: requires prometheus"],
  ["keda.pastDueSeconds=0", "/keda/pastDueSeconds"],
  ["ingress.enabled=true", "ingress: requires host"],
  ["ingress.host=a b", "/ingress/host"],
  ["httpRoute.enabled=true", "httpRoute: requires parentRefs"],
  ["pods.securityContext.runAsRoot=true", "/pods/securityContext"],
  ["pods.securityContext.runAsUser=root", "/pods/securityContext/runAsUser"],
  ["pods.probes.startup.periodSeconds=0", "/pods/probes/startup/periodSeconds"],
  ['pods.topologySpread=[{"maxSkew":1}]', "/pods/topologySpread/0"],
  ["services.gateway.pods.nodeSelectors.a=b", "/services/gateway/pods"],
  ["serviceAccount.create=maybe", "/serviceAccount/create"],
  ["extraObjects=[1]", "/extraObjects/0"],
  ["services.deliverer.extraEnv[0].value=a", "/services/deliverer/extraEnv/0"],
] as const;

/** The same over the value set `standalone`. */
const refusedAlone = [
  ["redis.url=redis://redis", "redis: the standalone has a store of its own"],
  ['kafka.brokers=["kafka:9092"]', "kafka.brokers: the standalone has a store of its own"],
  ["mongodb.uri=mongodb://one", "mongodb: the standalone has a store of its own"],
  ["keda.enabled=true", "keda: sizes deliverers"],
  ["standalone.persistence.size=big", "/standalone/persistence/size"],
  ["standalone.persistence.accessMode=ReadWriteMany", "/standalone/persistence/accessMode"],
  ["standalone.replicas=2", "replicas"],
] as const;

describeWith(["go"], "the chart's values", () => {
  beforeAll(buildHelm);

  it("are taken unchanged from the smallest value set", async () => {
    await expect(render("minimal")).resolves.toBeDefined();
  });

  it.each(refused)("are refused by name: %s", async (setting, named) => {
    await expect(render("minimal", [setting])).rejects.toThrow(named);
  });

  it.each(refusedAlone)("are refused by name for a standalone: %s", async (setting, named) => {
    await expect(render("standalone", [setting])).rejects.toThrow(named);
  });
});
