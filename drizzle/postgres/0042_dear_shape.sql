CREATE TABLE "shared_connections" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"provider_uid" text NOT NULL,
	"name" text NOT NULL,
	"scopes" text,
	"shared_with" text NOT NULL,
	"mac" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "shared_connections" ADD CONSTRAINT "shared_connections_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "shared_connections" ADD CONSTRAINT "shared_connections_provider_uid_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "shared_connections_name" ON "shared_connections" USING btree ("project_id","provider_uid","name");--> statement-breakpoint
CREATE INDEX "shared_connections_of_project" ON "shared_connections" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "shared_connections_of_provider" ON "shared_connections" USING btree ("provider_uid");