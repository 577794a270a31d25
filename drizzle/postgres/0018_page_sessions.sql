CREATE TABLE "counters" (
	"project_id" text NOT NULL,
	"hour" bigint NOT NULL,
	"name" text NOT NULL,
	"label" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "counters_project_id_hour_name_label_pk" PRIMARY KEY("project_id","hour","name","label")
);
--> statement-breakpoint
CREATE TABLE "page_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"project_id" text NOT NULL,
	"subject" text NOT NULL,
	"payload" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"last_seen_at" bigint NOT NULL,
	CONSTRAINT "users_project_id_user_id_pk" PRIMARY KEY("project_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "counters" ADD CONSTRAINT "counters_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "page_sessions" ADD CONSTRAINT "page_sessions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "counters_hour" ON "counters" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "page_sessions_subject" ON "page_sessions" USING btree ("project_id","subject","kind");--> statement-breakpoint
CREATE INDEX "page_sessions_expiry" ON "page_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "users_seen" ON "users" USING btree ("project_id","last_seen_at","user_id");--> statement-breakpoint
CREATE INDEX "authorizations_ended" ON "authorizations" USING btree ("project_id","expires_at") WHERE completed_at is not null;--> statement-breakpoint
CREATE INDEX "authorizations_of_project" ON "authorizations" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "authorizations_of_status" ON "authorizations" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "connections_of_status" ON "connections" USING btree ("project_id","status","id");