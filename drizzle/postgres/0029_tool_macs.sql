ALTER TABLE "tools" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "binding_mac" text;--> statement-breakpoint
ALTER TABLE "toolsets" ADD COLUMN "mac" text;