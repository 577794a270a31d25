CREATE TABLE "deliveries" (
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"key" text NOT NULL,
	"key_seq" bigint NOT NULL,
	"state" text NOT NULL,
	"attempt" integer NOT NULL,
	"due_at" bigint,
	"lease_owner" text,
	"last_status" integer,
	"last_error" text,
	"created_at" bigint NOT NULL,
	"ended_at" bigint,
	CONSTRAINT "deliveries_webhook_id_event_id_pk" PRIMARY KEY("webhook_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"type" text NOT NULL,
	"key" text NOT NULL,
	"key_seq" bigint NOT NULL,
	"body" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"url" text NOT NULL,
	"description" text,
	"types" text,
	"enabled" boolean NOT NULL,
	"disabled_reason" text,
	"disabled_at" bigint,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_until" bigint,
	"failures" integer NOT NULL,
	"failing_since" bigint,
	"probe_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "event_seq" bigint;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "event_seq" bigint;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("webhook_id","due_at") WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX "deliveries_of_key" ON "deliveries" USING btree ("webhook_id","key","key_seq") WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX "deliveries_state" ON "deliveries" USING btree ("webhook_id","state","event_id") WHERE state <> 'delivered';--> statement-breakpoint
CREATE INDEX "deliveries_age" ON "deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "events_of_project" ON "events" USING btree ("project_id","at","id");--> statement-breakpoint
CREATE INDEX "events_age" ON "events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "webhooks_of_project" ON "webhooks" USING btree ("project_id","id");