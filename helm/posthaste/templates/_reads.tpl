{{/*
What each service reads beside the sealing keys, which all read, as in libs/process/src/config/services.ts. A service gets the
variables, the secrets and the ways through the network of its subjects, and no others. The standalone stands for all six. What runs
once, and to its end (migrate.yaml), reads no sealing keys.
*/}}
{{- define "posthaste.reads" -}}
{{- if .Values.standalone.enabled -}}
standalone: [alone, audit, proxies, credentials, destinations, deliveries, schedules, retention, llm, llm-key, oidc-tenants, oidc-operators]
{{- else -}}
gateway: [documents, bus, tokens, audit, proxies, destinations, llm, oidc-tenants]
scheduler: [documents, bus, tokens, schedules]
deliverer: [documents, bus, tokens, destinations, deliveries, schedules, llm-key]
callback-dispatcher: [documents, bus]
workflow-log: [documents, bus, retention]
management: [documents, audit, proxies, credentials, oidc-operators]
{{- end -}}
{{- end -}}

{{/* Not empty: people sign in to the console of this service by a provider. (dict "root" $ "reads" subjects) */}}
{{- define "posthaste.oidc" -}}
{{- $oidc := .root.Values.oidc -}}
{{- if or (and (has "oidc-tenants" .reads) $oidc.tenants) (and (has "oidc-operators" .reads) $oidc.operators) -}}
{{ $oidc.issuer }}
{{- end -}}
{{- end -}}

{{/* The service that callers know. */}}
{{- define "posthaste.front" -}}
{{ .Values.standalone.enabled | ternary "standalone" "gateway" }}
{{- end -}}

{{/* Where its Service listens. */}}
{{- define "posthaste.frontPort" -}}
{{ .Values.standalone.enabled | ternary .Values.standalone.service.port .Values.services.gateway.service.port }}
{{- end -}}

{{- define "posthaste.dataFolder" -}}
/var/lib/posthaste
{{- end -}}

{{/*
The secrets of one service: (dict "root" $ "reads" subjects). A map from the name of a file to {name, key} of a Secret, or of what
kind says.
*/}}
{{- define "posthaste.secrets" -}}
{{- $values := .root.Values -}}
{{- $fullname := include "posthaste.fullname" .root -}}
{{- $credentials := default (printf "%s-credentials" $fullname) $values.credentials.existingSecret -}}
{{- $isOnce := has "once" .reads -}}
{{- $stores := printf "%s-%s" $fullname ($isOnce | ternary "migrate" "stores") -}}
{{- if not $isOnce }}
sealing-keys: {name: {{ $credentials }}, key: sealing-keys}
{{- end }}
{{- if and (not $isOnce) $values.metricsPort $values.metricsTokenFrom }}
metrics-token: {{ $values.metricsTokenFrom | toJson }}
{{- end }}
{{- if has "documents" .reads }}
mongodb-uri: {{ default (dict "name" $stores "key" "mongodb-uri") $values.mongodb.uriFrom | toJson }}
{{- end }}
{{- if and (has "bus" .reads) $values.kafka.user }}
kafka-password: {{ default (dict "name" $stores "key" "kafka-password") $values.kafka.passwordFrom | toJson }}
{{- end }}
{{- if has "tokens" .reads }}
redis-url: {{ default (dict "name" $stores "key" "redis-url") $values.redis.urlFrom | toJson }}
{{- with $values.redis.sentinelPasswordFrom }}
redis-sentinel-password: {{ toJson . }}
{{- end }}
{{- end }}
{{- range $store, $subject := dict "kafka" "bus" "mongodb" "documents" "redis" "tokens" }}
{{- if has $subject $.reads }}
{{- range $part := list "ca" "certificate" "key" }}
{{- with index $values $store (printf "%sFrom" $part) }}
{{ $store }}-tls-{{ $part }}: {{ dict "kind" (ternary "ConfigMap" "Secret" (hasKey . "configMap")) "name" (default .name .configMap) "key" .key | toJson }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (has "bus" .reads) (eq $values.kafka.mechanism "oauthbearer") }}
kafka-oauth-client-secret: {{ $values.kafka.oauth.clientSecretFrom | toJson }}
{{- end }}
{{- if and (has "llm-key" .reads) $values.llm.keyFrom }}
llm-key: {{ $values.llm.keyFrom | toJson }}
{{- end }}
{{- if and (include "posthaste.oidc" .) $values.oidc.clientSecretFrom }}
oidc-client-secret: {{ $values.oidc.clientSecretFrom | toJson }}
{{- end }}
{{- if has "credentials" .reads }}
{{- range list "token" "signing-key-current" "signing-key-next" "management-password" }}
{{ . }}: {name: {{ $credentials }}, key: {{ . }}}
{{- end }}
{{- with $values.credentials.managementOperatorsFrom }}
management-operators: {{ . | toJson }}
{{- end }}
{{- with $values.credentials.managementViewersFrom }}
management-viewers: {{ . | toJson }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The environment of one service: (dict "root" $ "service" name "reads" subjects "secrets" map). */}}
{{- define "posthaste.environment" -}}
{{- $values := .root.Values -}}
{{- $service := eq .service "standalone" | ternary $values.standalone (get $values.services .service) -}}
- {name: POSTHASTE_PROFILE, value: production}
- {name: POSTHASTE_LOG_LEVEL, value: {{ $values.logLevel }}}
{{- if not (has "once" .reads) }}
- {name: POSTHASTE_DRAIN_SECONDS, value: {{ $values.drainSeconds | quote }}}
- {name: POSTHASTE_HOST, value: {{ $values.host | quote }}}
- {name: POSTHASTE_PORT, value: {{ include "posthaste.port" .service | quote }}}
{{- with $values.metricsPort }}
- {name: POSTHASTE_METRICS_PORT, value: {{ . | quote }}}
{{- end }}
{{- with include "posthaste.collector" .root }}
- {name: POSTHASTE_OTLP_ENDPOINT, value: {{ . | quote }}}
- {name: POSTHASTE_TRACE_RATIO, value: {{ $values.traces.ratio | quote }}}
{{- end }}
{{- if $values.otlp.metrics }}
- {name: OTEL_METRICS_EXPORTER, value: otlp}
- {name: OTEL_METRIC_EXPORT_INTERVAL, value: {{ printf "%d000" (int $values.otlp.metricsSeconds) | quote }}}
{{- end }}
{{- if $values.otlp.logs }}
- {name: OTEL_LOGS_EXPORTER, value: otlp}
{{- end }}
{{- end }}
{{- if has "alone" .reads }}
- {name: POSTHASTE_DATA_DIR, value: {{ include "posthaste.dataFolder" . | quote }}}
{{- end }}
{{- if has "documents" .reads }}
- {name: POSTHASTE_MONGODB_DATABASE, value: {{ $values.mongodb.database | quote }}}
{{- if ne .service "migrate" }}
- {name: POSTHASTE_MONGODB_POOL, value: {{ $values.mongodb.pool | int | quote }}}
- {name: POSTHASTE_MONGODB_HEAVY_POOL, value: {{ $values.mongodb.heavyPool | int | quote }}}
- {name: POSTHASTE_MONGODB_PATIENCE_MS, value: {{ $values.mongodb.patienceMs | int | quote }}}
- {name: POSTHASTE_MONGODB_HEAVY_MS, value: {{ $values.mongodb.heavyMs | int | quote }}}
{{- end }}
{{- end }}
{{- if has "bus" .reads }}
{{- with $values.kafka }}
- {name: POSTHASTE_KAFKA_BROKERS, value: {{ join "," .brokers | quote }}}
- {name: POSTHASTE_KAFKA_PREFIX, value: {{ .prefix | quote }}}
- {name: POSTHASTE_KAFKA_PARTITIONS, value: {{ .partitions | quote }}}
{{- if .replication }}
- {name: POSTHASTE_KAFKA_REPLICATION, value: {{ .replication | quote }}}
{{- end }}
- {name: POSTHASTE_KAFKA_PROVISION, value: {{ ternary "on" "off" .provision | quote }}}
- {name: POSTHASTE_KAFKA_RETENTION_HOURS, value: {{ .retentionHours | quote }}}
- {name: POSTHASTE_KAFKA_SESSION_MS, value: {{ .sessionMs | int | quote }}}
- {name: POSTHASTE_KAFKA_REQUEST_MS, value: {{ .requestMs | int | quote }}}
- {name: POSTHASTE_KAFKA_TLS, value: {{ ternary "on" "off" .tls | quote }}}
{{- if or .user (has .mechanism (list "oauthbearer" "aws-msk-iam")) }}
- {name: POSTHASTE_KAFKA_MECHANISM, value: {{ .mechanism | quote }}}
{{- end }}
{{- with .user }}
- {name: POSTHASTE_KAFKA_USER, value: {{ . | quote }}}
{{- end }}
{{- if eq .mechanism "oauthbearer" }}
- {name: POSTHASTE_KAFKA_OAUTH_TOKEN_URL, value: {{ .oauth.tokenUrl | quote }}}
- {name: POSTHASTE_KAFKA_OAUTH_CLIENT_ID, value: {{ .oauth.clientId | quote }}}
{{- with .oauth.scope }}
- {name: POSTHASTE_KAFKA_OAUTH_SCOPE, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if has "tokens" .reads }}
{{- with $values.redis }}
- {name: POSTHASTE_REDIS_MODE, value: {{ .mode | quote }}}
{{- if eq .mode "sentinel" }}
- {name: POSTHASTE_REDIS_MASTER, value: {{ .master | quote }}}
{{- with .sentinelUser }}
- {name: POSTHASTE_REDIS_SENTINEL_USER, value: {{ . | quote }}}
{{- end }}
{{- end }}
- {name: POSTHASTE_REDIS_PREFIX, value: {{ .prefix | quote }}}
- {name: POSTHASTE_REDIS_BUDGET_MS, value: {{ .budgetMs | quote }}}
{{- with .connectMs }}
- {name: POSTHASTE_REDIS_CONNECT_MS, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- if and (has "proxies" .reads) $values.trustedProxies }}
- {name: POSTHASTE_TRUSTED_PROXIES, value: {{ join "," $values.trustedProxies | quote }}}
{{- end }}
{{- if and (has "destinations" .reads) $values.allowPrivateCidrs }}
- {name: POSTHASTE_ALLOW_PRIVATE_CIDRS, value: {{ join "," $values.allowPrivateCidrs | quote }}}
{{- end }}
{{- if has "deliveries" .reads }}
- {name: POSTHASTE_MAX_IN_FLIGHT, value: {{ $service.maxInFlight | int | quote }}}
- {name: POSTHASTE_MAX_PER_ORIGIN, value: {{ $service.maxPerOrigin | int | quote }}}
- {name: POSTHASTE_MAX_IN_FLIGHT_MIB, value: {{ $service.maxInFlightMib | int | quote }}}
- {name: POSTHASTE_MAX_INLINE_HISTORY_KIB, value: {{ $service.maxInlineHistoryKib | int | quote }}}
- {name: POSTHASTE_MAX_WAITING, value: {{ $service.maxWaiting | int | quote }}}
{{- end }}
{{- if has "audit" .reads }}
- {name: POSTHASTE_AUDIT_DAYS, value: {{ $values.auditDays | quote }}}
{{- end }}
{{- if has "schedules" .reads }}
- {name: POSTHASTE_SCHEDULE_LATE_MINUTES, value: {{ $values.scheduleLateMinutes | quote }}}
{{- end }}
{{- if and (has "retention" .reads) (hasKey $values "keptBodiesDiskPercent") }}
- {name: POSTHASTE_KEPT_BODIES_DISK_PERCENT, value: {{ $values.keptBodiesDiskPercent | quote }}}
{{- end }}
{{- if and (has "llm" .reads) $values.llm.url }}
- {name: POSTHASTE_LLM_URL, value: {{ $values.llm.url | quote }}}
{{- end }}
{{- with $values.oidc }}
{{- if include "posthaste.oidc" $ }}
- {name: POSTHASTE_OIDC_ISSUER, value: {{ .issuer | quote }}}
- {name: POSTHASTE_OIDC_CLIENT_ID, value: {{ .clientId | quote }}}
- {name: POSTHASTE_OIDC_SCOPES, value: {{ .scopes | quote }}}
- {name: POSTHASTE_OIDC_GROUPS_CLAIM, value: {{ .groupsClaim | quote }}}
{{- end }}
{{- if and (has "oidc-tenants" $.reads) .tenants }}
- {name: POSTHASTE_CONSOLE_URL, value: {{ .consoleUrl | quote }}}
- {name: POSTHASTE_OIDC_TENANTS, value: {{ join "," .tenants | quote }}}
{{- end }}
{{- if and (has "oidc-operators" $.reads) .operators }}
- {name: POSTHASTE_MANAGEMENT_CONSOLE_URL, value: {{ .managementConsoleUrl | quote }}}
- {name: POSTHASTE_OIDC_OPERATORS, value: {{ join "," .operators | quote }}}
{{- end }}
{{- end }}
{{- if has "credentials" .reads }}
- {name: POSTHASTE_MANAGEMENT_USER, value: {{ $values.credentials.managementUser | quote }}}
{{- end }}
{{- range $file, $_ := .secrets }}
- {name: POSTHASTE_{{ $file | upper | replace "-" "_" }}_FILE, value: /run/secrets/posthaste/{{ $file }}}
{{- end }}
{{- end -}}
