{{/* What values.schema.json cannot say, or not in words. */}}
{{- define "posthaste.rules" -}}
{{- with .Values.kafka -}}
{{- if and .password .passwordFrom }}{{ fail "kafka: set password or passwordFrom, not both" }}{{ end -}}
{{- if and .user (not .password) (not .passwordFrom) }}{{ fail "kafka: user wants password or passwordFrom" }}{{ end -}}
{{- if and (not .user) (or .password .passwordFrom) }}{{ fail "kafka: a password wants user" }}{{ end -}}
{{- end -}}
{{- with .Values.redis -}}
{{- if and .url .urlFrom }}{{ fail "redis: set url or urlFrom, not both" }}{{ end -}}
{{- if not (or .url .urlFrom) }}{{ fail "redis: the chart brings none; set url or urlFrom" }}{{ end -}}
{{- end -}}
{{- with .Values.mongodb -}}
{{- if and .uri .uriFrom }}{{ fail "mongodb: set uri or uriFrom, not both" }}{{ end -}}
{{- if not (or .uri .uriFrom) }}{{ fail "mongodb: the chart brings none; set uri or uriFrom" }}{{ end -}}
{{- end -}}
{{- if has (int .Values.metricsPort) (list 8080 8082) }}{{ fail "metricsPort: 8080 and 8082 are taken" }}{{ end -}}
{{- if and .Values.monitoring.podMonitor.enabled (not .Values.metricsPort) }}{{ fail "monitoring.podMonitor: wants metricsPort" }}{{ end -}}
{{- if and .Values.keda.enabled (not .Values.keda.prometheus) }}{{ fail "keda: wants prometheus, the address of the one that reads these pods" }}{{ end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress: wants host" }}{{ end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}{{ fail "httpRoute: wants parentRefs" }}{{ end -}}
{{- range $name, $service := .Values.services -}}
{{- with $service.autoscaling -}}
{{- if gt (int .minReplicas) (int .maxReplicas) }}{{ fail (printf "services.%s.autoscaling: minReplicas is above maxReplicas" $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
