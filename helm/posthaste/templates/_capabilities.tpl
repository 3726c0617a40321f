{{/* Of what the cluster may not have: (dict "root" $ "wanted" bool "api" "group/version/Kind"). "true", or nothing. */}}
{{- define "posthaste.canHave" -}}
{{- if and .wanted (.root.Capabilities.APIVersions.Has .api) }}true{{ end -}}
{{- end -}}

{{/* Wanted kinds that the cluster does not know, a line each. */}}
{{- define "posthaste.leftOut" -}}
{{- $wanted := dict
  "monitoring.podMonitor" (list .Values.monitoring.podMonitor.enabled "monitoring.coreos.com/v1/PodMonitor")
  "monitoring.prometheusRule" (list .Values.monitoring.prometheusRule.enabled "monitoring.coreos.com/v1/PrometheusRule")
  "keda" (list .Values.keda.enabled "keda.sh/v1alpha1/ScaledObject")
  "httpRoute" (list .Values.httpRoute.enabled "gateway.networking.k8s.io/v1/HTTPRoute") -}}
{{- range $name, $pair := $wanted }}
{{- if and (first $pair) (not ($.Capabilities.APIVersions.Has (last $pair))) }}
{{ $name }}: this cluster has no {{ last $pair }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether KEDA sizes the deliverers. */}}
{{- define "posthaste.keda" -}}
{{ include "posthaste.canHave" (dict "root" . "wanted" .Values.keda.enabled "api" "keda.sh/v1alpha1/ScaledObject") }}
{{- end -}}

{{/* Whether something sizes a service's Deployment: (dict "root" $ "service" name). */}}
{{- define "posthaste.isScaled" -}}
{{- if dig "autoscaling" "enabled" false (index .root.Values.services .service) }}true
{{- else if and (eq .service "deliverer") (include "posthaste.keda" .root) }}true
{{- end -}}
{{- end -}}
