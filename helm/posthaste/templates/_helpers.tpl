{{/* Leaves room for the longest name of a Service below the 63 characters of a label. */}}
{{- define "posthaste.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- default $full .Values.fullnameOverride | trunc 38 | trimSuffix "-" -}}
{{- end -}}

{{- define "posthaste.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Not empty: the release makes it. */}}
{{- define "posthaste.makesServiceAccount" -}}
{{- if dig "create" (not .Values.serviceAccount.name) .Values.serviceAccount }}true{{ end -}}
{{- end -}}

{{- define "posthaste.serviceAccount" -}}
{{ default (include "posthaste.fullname" .) .Values.serviceAccount.name }}
{{- end -}}

{{/* Of what belongs to the release as a whole. */}}
{{- define "posthaste.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: posthaste
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
{{- end -}}

{{/* Of one service's pods: (dict "root" $ "service" name). Selectors cannot change afterwards. */}}
{{- define "posthaste.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end -}}

{{- define "posthaste.port" -}}
{{ eq . "management" | ternary 8082 8080 }}
{{- end -}}
