{{/* What values.schema.json cannot say, or not in words. */}}
{{- define "posthaste.rules" -}}
{{- if .Values.standalone.enabled -}}
{{- include "posthaste.rulesAlone" . -}}
{{- else -}}
{{- include "posthaste.rulesApart" . -}}
{{- end -}}
{{- if has (int .Values.metricsPort) (list 8080 8082) }}{{ fail "metricsPort: 8080 and 8082 are taken" }}{{ end -}}
{{- if and .Values.monitoring.podMonitor.enabled (not .Values.metricsPort) }}{{ fail "monitoring.podMonitor: requires metricsPort" }}{{ end -}}
{{- if and .Values.observability.enabled (not .Values.metricsPort) }}{{ fail "observability: requires metricsPort" }}{{ end -}}
{{- if and (or .Values.otlp.metrics .Values.otlp.logs) (not .Values.traces.endpoint) }}{{ fail "otlp: requires traces.endpoint" }}{{ end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress: requires host" }}{{ end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}{{ fail "httpRoute: requires parentRefs" }}{{ end -}}
{{- with .Values.oidc -}}
{{- if and (or .tenants .operators) (not (and .issuer .clientId)) }}{{ fail "oidc: requires issuer and clientId" }}{{ end -}}
{{- if and .tenants (not .consoleUrl) }}{{ fail "oidc: tenants require consoleUrl" }}{{ end -}}
{{- if and .operators (not .managementConsoleUrl) }}{{ fail "oidc: operators require managementConsoleUrl" }}{{ end -}}
{{- if and .issuer (not (or .tenants .operators)) }}{{ fail "oidc: lets nobody in; set tenants or operators" }}{{ end -}}
{{- end -}}
{{- include "posthaste.rulesOfCredentials" . -}}
{{- end -}}

{{/* Where nothing answers a lookup, each render would make other credentials: an upgrade by it would lose the sealing key. */}}
{{- define "posthaste.rulesOfCredentials" -}}
{{- if not (or .Values.credentials.existingSecret (lookup "v1" "ServiceAccount" .Release.Namespace "")) -}}
{{ fail "credentials: this render sees no cluster (helm template, a dry run of the client, Argo CD), so that it would make other ones each time; set credentials.existingSecret, or --dry-run=server" }}
{{- end -}}
{{- end -}}

{{- define "posthaste.rulesAlone" -}}
{{- $stores := dict "kafka.brokers" .Values.kafka.brokers "redis" (or .Values.redis.url .Values.redis.urlFrom) "mongodb" (or .Values.mongodb.uri .Values.mongodb.uriFrom) -}}
{{- range $name, $said := $stores -}}
{{- if $said }}{{ fail (printf "%s: the standalone has a store of its own" $name) }}{{ end -}}
{{- end -}}
{{- if .Values.keda.enabled }}{{ fail "keda: sizes deliverers, and the standalone is one process" }}{{ end -}}
{{- end -}}

{{- define "posthaste.rulesApart" -}}
{{- with .Values.kafka -}}
{{- if not .brokers }}{{ fail "kafka: the chart brings none; set brokers" }}{{ end -}}
{{- if and .password .passwordFrom }}{{ fail "kafka: set password or passwordFrom, not both" }}{{ end -}}
{{- if and .user (not .password) (not .passwordFrom) }}{{ fail "kafka: user requires password or passwordFrom" }}{{ end -}}
{{- if and (not .user) (or .password .passwordFrom) }}{{ fail "kafka: a password requires user" }}{{ end -}}
{{- end -}}
{{- with .Values.redis -}}
{{- if and .url .urlFrom }}{{ fail "redis: set url or urlFrom, not both" }}{{ end -}}
{{- if not (or .url .urlFrom) }}{{ fail "redis: the chart brings none; set url or urlFrom" }}{{ end -}}
{{- if and (eq .mode "single") (regexMatch "^[^/]+//([^@/]*@)?[^/]*," .url) }}{{ fail "redis: url names several hosts; set mode to cluster or sentinel" }}{{ end -}}
{{- if and (or .sentinelUser .sentinelPasswordFrom) (ne .mode "sentinel") }}{{ fail "redis: sentinelUser and sentinelPasswordFrom require mode sentinel" }}{{ end -}}
{{- if and .sentinelUser (not .sentinelPasswordFrom) }}{{ fail "redis: sentinelUser requires sentinelPasswordFrom" }}{{ end -}}
{{- if and .connectMs (lt (int .connectMs) (int .budgetMs)) }}{{ fail "redis: connectMs must not be less than budgetMs" }}{{ end -}}
{{- end -}}
{{- with .Values.mongodb -}}
{{- if and .uri .uriFrom }}{{ fail "mongodb: set uri or uriFrom, not both" }}{{ end -}}
{{- if not (or .uri .uriFrom) }}{{ fail "mongodb: the chart brings none; set uri or uriFrom" }}{{ end -}}
{{- if gt (add (int .heavyMs) 100) (int .patienceMs) }}{{ fail "mongodb: heavyMs must be at least 100 below patienceMs" }}{{ end -}}
{{- end -}}
{{- range $name, $store := dict "kafka" .Values.kafka "redis" .Values.redis "mongodb" .Values.mongodb -}}
{{- if ne (empty $store.certificateFrom) (empty $store.keyFrom) }}{{ fail (printf "%s: certificateFrom and keyFrom go together" $name) }}{{ end -}}
{{- end -}}
{{- with .Values.kafka -}}
{{- if eq .mechanism "oauthbearer" -}}
{{- if not (and .oauth.tokenUrl .oauth.clientId .oauth.clientSecretFrom) }}{{ fail "kafka: oauthbearer requires oauth.tokenUrl, oauth.clientId and oauth.clientSecretFrom" }}{{ end -}}
{{- end -}}
{{- if and (eq .mechanism "aws-msk-iam") (not .tls) }}{{ fail "kafka: aws-msk-iam requires tls" }}{{ end -}}
{{- if and .user (has .mechanism (list "oauthbearer" "aws-msk-iam")) }}{{ fail (printf "kafka: %s has no user" .mechanism) }}{{ end -}}
{{- end -}}
{{- if and (or .Values.kafka.caFrom .Values.kafka.certificateFrom) (not .Values.kafka.tls) }}{{ fail "kafka: caFrom and certificateFrom require tls" }}{{ end -}}
{{- if and .Values.keda.enabled (not (include "posthaste.prometheus" .)) }}{{ fail "keda: requires prometheus, the address of a Prometheus that reads these pods" }}{{ end -}}
{{- range $name, $service := .Values.services -}}
{{- with $service.autoscaling -}}
{{- if gt (int .minReplicas) (int .maxReplicas) }}{{ fail (printf "services.%s.autoscaling: minReplicas is above maxReplicas" $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name := list "scheduler" "deliverer" "callback-dispatcher" "workflow-log" -}}
{{- $service := index $.Values.services $name -}}
{{- $isScaled := not (empty (include "posthaste.isScaled" (dict "root" $ "service" $name))) -}}
{{- $most := $isScaled | ternary (dig "autoscaling" "maxReplicas" 0 $service) $service.replicas -}}
{{- if gt (int $most) (int $.Values.kafka.partitions) -}}
{{ fail (printf "services.%s.%s: %d is above kafka.partitions (%d), and a pod without a partition does nothing" $name ($isScaled | ternary "autoscaling.maxReplicas" "replicas") (int $most) (int $.Values.kafka.partitions)) }}
{{- end -}}
{{- end -}}
{{- end -}}
